"""Django settings, read from environment variables; docs/settings.md describes them.

No other module reads the environment.
"""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from config import environment
from domains import pack_names
from operations.observability import logs

BASE_DIR = Path(__file__).resolve().parent.parent

# Otherwise ONNX Runtime tells its maker about each model and this machine.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

# --- Storage ---------------------------------------------------------------
VAR_DIR = Path(environment.text("PINCITE_VAR", str(BASE_DIR / "var"))).resolve()
MEDIA_ROOT = VAR_DIR / "media"
MODELS_DIR = VAR_DIR / "models"  # weights that are fetched when a model is chosen
FILE_UPLOAD_PERMISSIONS, FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o600, 0o700  # closed to other users
MEDIA_URL = ""  # views check access and serve files
S3_BUCKET = environment.text("PINCITE_S3_BUCKET")  # stores files instead of MEDIA_ROOT
S3_URL = environment.url("PINCITE_S3_URL")  # of a server other than Amazon's
_IN_IMAGE = BASE_DIR / "staticfiles"  # made by the Dockerfile: a volume hides VAR_DIR
STATIC_ROOT = _IN_IMAGE if _IN_IMAGE.is_dir() else VAR_DIR / "static"
STATIC_URL = "/static/"
STATICFILES_DIRS = [
    BASE_DIR / "static",
    ("pdfjs", BASE_DIR / "node_modules/pdfjs-dist"),
    ("htmx", BASE_DIR / "node_modules/htmx.org/dist"),
    ("file-selector", BASE_DIR / "node_modules/file-selector/dist"),
    ("fonts/inter", BASE_DIR / "node_modules/@fontsource-variable/inter/files"),
    ("fonts/math", BASE_DIR / "node_modules/@fontsource/noto-sans-math/files"),
    ("fonts/newsreader", BASE_DIR / "node_modules/@fontsource-variable/newsreader/files"),
]
WHITENOISE_USE_FINDERS = True  # works before the first collectstatic

STORAGES: dict[str, Any] = {
    "default": {
        "BACKEND": "documents.files.s3_storage.BucketFiles",
        "OPTIONS": {
            "bucket_name": S3_BUCKET,
            "endpoint_url": S3_URL or None,
            "default_acl": None,  # the bucket's own policy; only our views serve files
            "file_overwrite": False,
        },
    }
    if S3_BUCKET
    else {"BACKEND": "documents.files.WholeFiles"},
    "staticfiles": {
        "BACKEND": "operations.http.static_files.HashedNames",
        # Collected by root, read by the service's own user.
        "OPTIONS": {"file_permissions_mode": 0o644, "directory_permissions_mode": 0o755},
    },
}

# --- Security ---------------------------------------------------------------
SECRET_KEY = environment.secret("PINCITE_SECRET_KEY", VAR_DIR / "secret_key")
SECRET_KEY_FALLBACKS = environment.words("PINCITE_OLD_SECRET_KEYS")
FIRST_USER = "admin"
HOST = environment.text("PINCITE_HOST", "127.0.0.1")
PORT = environment.integer("PINCITE_PORT", 8000, 1, 65535)
ALLOWED_HOSTS = environment.words("PINCITE_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_FAILURE_VIEW = "operations.http.errors.csrf_failure"

HTTPS = environment.flag("PINCITE_HTTPS", False)  # a proxy terminates TLS
# Otherwise forms are refused where the proxy is not trusted, so that this server takes them for plain HTTP.
CSRF_TRUSTED_ORIGINS = [
    f"https://{'*' if host.startswith('.') else ''}{host}" for host in ALLOWED_HOSTS if HTTPS
]
TRUSTED_PROXIES = environment.proxies("PINCITE_TRUSTED_PROXIES")  # whose X-Forwarded-* headers count
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS and TRUSTED_PROXIES else None
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
COOKIE_PREFIX = "__Host-" if HTTPS else ""  # browsers refuse such a cookie from another host or plain HTTP
SESSION_COOKIE_NAME, CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}sessionid", f"{COOKIE_PREFIX}csrftoken"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "worker-src": ["'self'"],  # pdf.js reads PDFs in a worker
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "manifest-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
SESSION_COOKIE_AGE = 14 * 24 * 3600
SESSION_IDLE_SECONDS = 7 * 24 * 3600
SECURITY_EVENT_DAYS = 365  # retention of the security log
SECOND_FACTOR = environment.choice("PINCITE_SECOND_FACTOR", "off", ("off", "optional", "required"))
OIDC_URL = environment.url("PINCITE_OIDC_URL")  # OpenID Connect provider; '' disables single sign-on
OIDC_NAME = "single sign-on"  # the button's label
OIDC_CLIENT = environment.text("PINCITE_OIDC_CLIENT")
OIDC_SECRET = environment.text("PINCITE_OIDC_SECRET")
OIDC_SIGN_UP = environment.flag("PINCITE_OIDC_SIGN_UP", False)  # create accounts for its users
MAIL = environment.mail("PINCITE_MAIL")  # of invitations; None mails none
_mail = MAIL or environment.MailServer()
EMAIL_HOST, EMAIL_PORT, EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail[:4]
EMAIL_USE_TLS, EMAIL_USE_SSL, DEFAULT_FROM_EMAIL = _mail[4:]
EMAIL_TIMEOUT = 10
ACCOUNT_ADAPTER = "operations.accounts.sign_in.Accounts"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
MFA_ADAPTER = "operations.accounts.sign_in.SecondFactor"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
SOCIALACCOUNT_ADAPTER = "operations.accounts.sign_in.SingleSignOn"
SOCIALACCOUNT_OPENID_CONNECT_URL_PREFIX = ""  # ``operations.accounts.account`` sets the path
SOCIALACCOUNT_PROVIDERS: dict[str, Any] = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": [
            {
                "provider_id": "oidc",
                "name": OIDC_NAME,
                "client_id": OIDC_CLIENT,
                "secret": OIDC_SECRET,
                "settings": {"server_url": OIDC_URL},
            }
        ]
        if OIDC_URL
        else [],
    }
}
if OIDC_URL:  # the sign-in form redirects there
    CONTENT_SECURITY_POLICY["DIRECTIVES"]["form-action"].append(
        "{0.scheme}://{0.netloc}".format(urlsplit(OIDC_URL))
    )

AXES_FAILURE_LIMIT = 8
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_CLIENT_IP_CALLABLE = "operations.accounts.sign_in.client_address"
AXES_LOCKOUT_CALLABLE = "operations.accounts.sign_in.too_many_attempts"
AXES_USERNAME_CALLABLE = "operations.accounts.sign_in.username_for_axes"
AXES_WHITELIST_CALLABLE = "operations.accounts.sign_in.is_known"
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False

# --- Application ------------------------------------------------------------
INSTALLED_APPS = [
    "operations",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "axes",
    "csp",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "django_filters",
    "django_prometheus",
    "django_q",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rest_framework",
    "documents",
    "retrieval",
    "chat",
    "reviews",
    "agents",
    "bench",
]
MIDDLEWARE = [
    "django_prometheus.middleware.PrometheusBeforeMiddleware",
    "operations.http.errors.request_id",
    "operations.http.admission.release_connection",
    "operations.http.static_files.cache_headers",
    "operations.http.errors.OnlyOverTls",
    "django.middleware.security.SecurityMiddleware",
    "operations.http.static_files.CollectedFiles",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "operations.http.errors.RefuseNul",
    "operations.http.errors.RefuseLongQuery",
    "operations.http.errors.OptionalSlash",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.http.ConditionalGetMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "operations.accounts.security_events.bind_request",
    "operations.accounts.sign_in.session_limits",
    "operations.accounts.sign_in.Gate",
    "operations.accounts.sign_in.SignInRequired",
    "allauth.account.middleware.AccountMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "operations.accounts.sign_in.PasswordRate",
    "axes.middleware.AxesMiddleware",
    "django_prometheus.middleware.PrometheusAfterMiddleware",
    "operations.postgres.replicas.reads_from_replicas",
    "operations.http.request_budget.limit_processor_time",
]
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "library"
LOGOUT_REDIRECT_URL = "login"
PASSWORD_WORDS = environment.words("PINCITE_PASSWORD_WORDS")  # of the organisation; refused in passwords
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},  # 20,000
    {"NAME": "operations.accounts.account.KnownWords"},
    {"NAME": "operations.accounts.account.AfterChange"},
]
LANGUAGE_CODE = "en-gb"
LANGUAGES = [("en-gb", "English"), ("de", "Deutsch")]  # of the interface
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "config.formats"
USE_TZ = True
TIME_ZONE = environment.time_zone("PINCITE_TIME_ZONE", "UTC")

# --- Database ---------------------------------------------------------------
DATABASE_URL = environment.database("DATABASE_URL")
DATABASES: dict[str, Any] = {  # operations.postgres.base explains why CONN_MAX_AGE and pool are not set
    "default": dj_database_url.parse(DATABASE_URL, engine="operations.postgres")
    if DATABASE_URL
    else {
        "ENGINE": "operations.embedded",
        "HOST": str(VAR_DIR / "postgres"),
        "NAME": "pincite",
        "USER": "postgres",
    }
}
# Behind PgBouncer in transaction mode: no session state, no prepared statements.
DATABASE_POOLER = environment.flag("PINCITE_DB_POOLER", False)
if DATABASE_POOLER:
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = True
    DATABASES["default"].setdefault("OPTIONS", {})["prepare_threshold"] = None
for _number, _url in enumerate(environment.databases("DATABASE_REPLICA_URLS"), 1):
    _replica = dj_database_url.parse(_url, engine="operations.postgres")
    _replica["OPTIONS"] = {"connect_timeout": 2, **_replica.get("OPTIONS", {})}
    DATABASES[f"replica{_number}"] = {**_replica, "TEST": {"MIRROR": "default"}}
DATABASE_ROUTERS = ["operations.postgres.replicas.ReplicaRouter"]
# Per web process, for signed-in users; operations.postgres.base adds those for other work.
DATABASE_CONNECTIONS = 20
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Caches -----------------------------------------------------------------
# Queue tickets, cache, rate limit counters, announcements; '' uses the database, and a cache per process.
REDIS_URL = environment.url("PINCITE_REDIS", schemes=("redis", "rediss"))
CACHES: dict[str, Any] = {
    "default": {"BACKEND": "documents.shared_state.SharedCache", "LOCATION": REDIS_URL}
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    "pictures": {  # rendered pages
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": VAR_DIR / "cache" / "pictures",
        "OPTIONS": {"MAX_ENTRIES": 2000},
    },
}

# --- Task queue (django-q2) -------------------------------------------------
Q_CLUSTER: dict[str, Any] = {
    "name": "pincite",
    **({"redis": REDIS_URL} if REDIS_URL else {"orm": "default"}),
    "workers": environment.integer("PINCITE_WORKERS", 2, 1, 256),
    "bulk": 1,
    "timeout": 30 * 86_400,  # django-q2 needs one; `manage.py worker` ends a task without processor time
    "retry": 31 * 86_400,  # more than timeout; the sweep replaces tickets sooner
    "recycle": 100_000,  # parsing runs in a separate process, so workers do not grow
    "max_attempts": 2,
    "ack_failures": True,
    "catch_up": False,
    "save_limit": 1000,
}

# --- Logs and metrics ---------------------------------------------------------
LOG_LEVELS = ("debug", "info", "warning", "error", "critical")
LOGGING = logs.configuration(
    level=environment.choice("PINCITE_LOG_LEVEL", "info", LOG_LEVELS).upper(),
    as_json=environment.flag("PINCITE_LOG_JSON", False),
)
METRICS_TOKEN = environment.text("PINCITE_METRICS_TOKEN")  # bearer token of /metrics; staff need none
PROMETHEUS_EXPORT_MIGRATIONS = False

# --- API ----------------------------------------------------------------------
RATES = {
    "api": "3000/min",  # calls by token or user
    "upload": "600/min",  # by user
    "ask": "120/min",  # questions by user
    "anonymous": "1200/min",  # unauthenticated requests by address
    "login": "30/min",  # sign-in attempts by address
    "account": "20/h",  # wrong passwords by account
}
REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "documents.api.common.callers.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["documents.api.common.callers.HasScope"],
    "DEFAULT_THROTTLE_CLASSES": ["documents.api.common.callers.RateLimit"],
    "DEFAULT_PAGINATION_CLASS": "documents.api.common.lists.CursorPages",
    "DEFAULT_FILTER_BACKENDS": [
        "documents.api.common.lists.FilterBackend",
        "documents.api.common.lists.Ordering",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["documents.api.common.callers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "documents.api.common.errors.PinciteSchema",
    "EXCEPTION_HANDLER": "documents.api.common.errors.error_response",
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "Pincite",
    "DESCRIPTION": "Answers from your PDFs. Every claim links to the exact words behind it.",
    "VERSION": "1",
    "SCHEMA_PATH_PREFIX": "/api",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "documents.api.common.errors.with_nullable",
    ],
    "ENUM_NAME_OVERRIDES": {
        "DocumentStatus": "documents.api.jobs.STATUSES",
        "MessageStatus": "chat.api.messages.STATUSES",
        "AnnotationColour": "chat.models.note.Annotation.Colour",
        "CollectionColour": "documents.api.library.COLOURS",
        "ColumnKind": "reviews.models.ReviewColumn.Kind",
        "ReportKind": "chat.models.report.Report.Kind",
        "ReportState": "chat.models.report.Report.State",
        "CheckedVerdict": "agents.results.VERDICTS",
        "LocatedVerdict": "agents.results.PLACES",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}
ASK_SECONDS = 120  # a synchronous API call waits for its answer
SEMANTIC_SCHOLAR_URL = "https://api.semanticscholar.org/graph/v1"
SEMANTIC_SCHOLAR_KEY = environment.text("SEMANTIC_SCHOLAR_API_KEY")
OPENALEX_URL = "https://api.openalex.org"
ZOTERO_URL = "https://api.zotero.org"
IDENTIFY = environment.flag("PINCITE_IDENTIFY", True)  # look up metadata by DOI, arXiv number or ISBN
CROSSREF_URL = "https://api.crossref.org"
DATACITE_URL = "https://api.datacite.org"
OPEN_LIBRARY_URL = "https://openlibrary.org"
CATALOGUE_SECONDS = 10  # per request
CATALOGUE_BACKOFF_SECONDS = 1
FETCH_SECONDS = 30  # a download by URL, redirects included
CLAMD = environment.clamd("PINCITE_CLAMD")  # host:port or socket of ClamAV; '' scans nothing
FETCH_PRIVATE_ADDRESSES = False  # whether files may be downloaded from them

# --- Documents ----------------------------------------------------------------
UPLOAD_MAX_BYTES = environment.integer("PINCITE_UPLOAD_MAX_MB", 200, least=1) * 1024 * 1024
PARSE_MAX_PAGES = 5000
PARSE_MAX_WORDS = 5_000_000
PARSE_MEMORY_BYTES = 1024**3
PARSE_BASE_SECONDS = 20
PARSE_PAGE_SECONDS = 0.2
PARSE_OCR_MEMORY_BYTES = 2 * 1024**3
PARSE_PICTURES = True  # OCR of pictures on pages with text
PARSE_TESSERACT = environment.text("PINCITE_TESSERACT", "")  # e.g. rus+ara: scripts the OCR models lack
# Processes that read one file in parallel.
PARSE_READERS = min(4, os.cpu_count() or 1)
CONVERT_SECONDS = 120  # processor time of a conversion to PDF
LIBREOFFICE = "soffice"  # '' refuses office files
INGEST_MAX_ATTEMPTS = 2  # a document that crashes its worker is not tried a third time
LEASE_SECONDS = 40  # a silent worker loses its document
LINK_DAYS = 30  # default lifetime of a share link
BIN_DAYS = environment.integer("PINCITE_BIN_DAYS", 7)  # retention of deleted documents
CHUNK_TARGET_TOKENS = 500
CHUNK_MAX_TOKENS = 1000
CHUNK_MIN_UNITS = 2
CHUNK_MAX_UNITS = 8

STRATEGIES = (  # of search; a test compares them with the implementations
    *("self_query", "decomposition", "multi_query", "hyde"),
    *("keyword", "vector", "context", "rerank", "compression"),
)

# --- Search -------------------------------------------------------------------
# "media" is another system's word for "document".
SEARCH_FTS_LEVEL = environment.choice(
    "PINCITE_FTS_LEVEL", "chunk", ("document", "chunk", "unit", "media")
).replace("media", "document")
SEARCH_PROVIDER_SECONDS = 4  # per call
SEARCH_OFF = environment.choices("PINCITE_SEARCH_OFF", STRATEGIES)  # strategies that never run
PACKS = environment.packs("PINCITE_PACKS", pack_names())  # vocabulary of single fields
CHUNK_SUMMARIES = environment.integer("PINCITE_SUMMARIES", 0)  # chunks per document that a model summarises
# Imported by name: retrieval may not import chat.
LANGUAGE_MODEL = "chat.providers.registry.configured_model"
EMBEDDING_CONNECTION = "chat.providers.connections.embedding_connection"
# cohere also fits Jina and vLLM; '' is cohere when it has a key.
RERANKER = environment.provider("PINCITE_RERANKER", "", ("", "cohere", "tei", "fastembed"))
RERANK_URL = environment.url("PINCITE_RERANK_URL")  # complete; '' is Cohere's
if RERANKER.partition(":")[0] == "tei" and not RERANK_URL:
    raise ImproperlyConfigured("PINCITE_RERANKER=tei needs PINCITE_RERANK_URL, such as http://host/rerank.")

EMBEDDING_PROVIDERS = ("wordllama", "e5", "openai", "gemini", "compatible", "fastembed", "hashing")
CHAT_PROVIDERS = ("", "openai", "anthropic", "gemini", "compatible", "extractive")

# --- Models: optional ------------------------------------------------------------
EMBEDDING_SPACE = environment.provider("PINCITE_EMBEDDING", "wordllama", EMBEDDING_PROVIDERS)
EMBEDDING_BASE_URL = environment.url("PINCITE_EMBEDDING_URL")  # of the provider "compatible"
EMBEDDING_API_KEY = environment.text("PINCITE_EMBEDDING_KEY")
PROVIDER_SECONDS = 30
CHAT_PROVIDER = environment.choice("PINCITE_CHAT", "", CHAT_PROVIDERS)  # '': first with a key, or extractive
OPENAI_API_KEY = environment.text("OPENAI_API_KEY")
OPENAI_BASE_URL = environment.url("OPENAI_BASE_URL")
OPENAI_MODEL = environment.text("OPENAI_MODEL", "gpt-4.1-mini")
ANTHROPIC_API_KEY = environment.text("ANTHROPIC_API_KEY")
ANTHROPIC_BASE_URL = environment.url("ANTHROPIC_BASE_URL")
ANTHROPIC_MODEL = environment.text("ANTHROPIC_MODEL", "claude-sonnet-5-5")
GEMINI_API_KEY = environment.text("GEMINI_API_KEY")
GEMINI_MODEL = environment.text("GEMINI_MODEL", "gemini-2.5-flash")
GEMINI_BASE_URL = "https://generativelanguage.googleapis.com/v1beta/openai/"
COMPATIBLE_BASE_URL = environment.url("PINCITE_COMPATIBLE_URL")  # Ollama, vLLM, llama.cpp, …: ends in /v1
COMPATIBLE_API_KEY = environment.text("PINCITE_COMPATIBLE_KEY", "none")
COMPATIBLE_MODEL = environment.text("PINCITE_COMPATIBLE_MODEL", "llama3.1")
COMPATIBLE_SEES = environment.flag("PINCITE_COMPATIBLE_SEES", False)  # that model accepts images
CHAT_MAX_TOKENS = environment.integer("PINCITE_MAX_TOKENS", 2000, least=1)
CHAT_PROMPT_TOKENS = environment.integer("PINCITE_PROMPT_TOKENS", 8000, least=500)
CHAT_DOCUMENT_TOKENS = environment.integer("PINCITE_DOCUMENT_TOKENS", 60_000, least=0)  # of all its prompts
CHAT_HISTORY_TOKENS = 2000
CHAT_ATTEMPTS = 3
CHAT_BACKOFF_SECONDS = 1
CHAT_SILENCE_SECONDS = 60
CHAT_TOTAL_SECONDS = 300
CHAT_ANSWERS_AT_ONCE = 256
MODEL_PROVIDERS = tuple(name for name in CHAT_PROVIDERS if name not in ("", "extractive"))
# Rewrites questions and helps search; '' is the model that answers.
HELPER_MODEL = environment.provider("PINCITE_HELPER_MODEL", "", ("", *MODEL_PROVIDERS))
JUDGE_PROVIDERS = ("", "chat", "fastembed", *MODEL_PROVIDERS)
JUDGE = environment.provider("PINCITE_JUDGE", "", JUDGE_PROVIDERS)  # '' judges nothing
JUDGE_SECONDS = 20  # per answer
COHERE_API_KEY = environment.text("COHERE_API_KEY")
