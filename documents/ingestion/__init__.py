"""From a stored file to pages, units and chunks.

``queue`` picks a document, ``leases`` gives it to one worker, ``pipeline`` runs the stages: ``source_files``,
``parser``, ``persistence``. ``recognition`` adds OCR later; ``documents.tasks`` is what
workers run, with the sweep that repairs what was interrupted.
"""
