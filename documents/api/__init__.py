"""The REST API of documents.

``common`` holds what the APIs of all apps share; each other module serves the resource of its name.
``urls`` lists the paths.
"""
