"""All settings, read from the environment; defaults are safe on one machine. README lists them."""

from pathlib import Path
from typing import Any

import django_stubs_ext
import drf_spectacular_sidecar
from csp.constants import NONE, SELF

from config import environment as env
from config.logs import LINES

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = env.read_folder("DATA_DIR", BASE_DIR / "var")
DEBUG = env.read_flag("DEBUG", default=False)
# Production is served over https; a single machine on loopback is not.
HTTPS = env.read_flag("HTTPS", default=False)

SECRET_KEY = env.read_secret("SECRET_KEY", DATA_DIR / "secret_key", https=HTTPS)
# What encrypts secrets of users in the database: the first encrypts, all decrypt, and so does SECRET_KEY.
ENCRYPTION_KEYS = env.read_keys("ENCRYPTION_KEYS")
ALLOWED_HOSTS = env.read_list("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env.read_list("CSRF_TRUSTED_ORIGINS")
# The public address of the site; links for Prolific and the demo start with it.
SITE_URL = env.read_site("SITE_URL", "http://127.0.0.1:8000")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "django_htmx",
    "template_partials.apps.SimpleAppConfig",
    "csp",
    # Single sign-on (docs/decisions/0047).
    "allauth.account",
    "allauth.socialaccount",
    "config",
    "background",
    "throttle",
    "studies",
    "annotation",
    "predictions",
    "making",
    "training",
    "results",
    "simulation",
    "workspace",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.compression.CompressTextsMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "annotation.language.ReadersLanguageMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "config.content_security.SitePolicyMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "workspace.signed_in_browsers.LastSeenMiddleware",
    "workspace.kept_forms.KeptFormsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

_LOADERS: list[Any] = ["django.template.loaders.filesystem.Loader", "django.template.loaders.app_directories.Loader"]
if not DEBUG:
    _LOADERS = [("django.template.loaders.cached.Loader", _LOADERS)]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "builtins": ["template_partials.templatetags.partials"],
            "loaders": [("template_partials.loader.Loader", _LOADERS)],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
    # Templates of questions only (docs/decisions/0027).
    {"NAME": "questions", "BACKEND": "django.template.backends.jinja2.Jinja2", "DIRS": [BASE_DIR / "templates"]},
]

_DATABASE = env.read_text("DATABASE_URL", f"sqlite:///{DATA_DIR / 'db.sqlite3'}")
_CONNECTION_SECONDS = env.read_number("DATABASE_CONNECTION_SECONDS", 600)
# Whether PgBouncer in transaction mode stands in front of the databases.
_POOLED = env.read_flag("DATABASE_POOLED", default=False)
DATABASES = {"default": env.read_database(_DATABASE, connection_seconds=_CONNECTION_SECONDS, pooled=_POOLED)}
# Results and exports are read from a replica that is at most so many seconds behind (docs/decisions/0095).
DATABASE_REPLICA_SECONDS = env.read_number("DATABASE_REPLICA_SECONDS", 60, least=1)
if _REPLICA := env.read_text("DATABASE_REPLICA_URL"):
    DATABASES["replica"] = env.read_replica(
        _REPLICA, DATABASES["default"], connection_seconds=_CONNECTION_SECONDS, pooled=_POOLED
    )
    DATABASE_ROUTERS = ["results.replica.Router"]

LANGUAGE_CODE = "en"
# Languages of the annotators' pages: CONTRIBUTING says how to add one.
LANGUAGES = [("en", "English"), ("es", "Español"), ("eu", "Euskara"), ("ar", "العربية")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATIC_ROOT = Path(env.read_text("STATIC_ROOT", str(BASE_DIR / "staticfiles")))
# Swagger UI shows the API on /api/docs/; the package's other viewer is not served.
_SWAGGER_UI = Path(drf_spectacular_sidecar.__file__).parent / "static/drf_spectacular_sidecar/swagger-ui-dist"
STATICFILES_DIRS = [BASE_DIR / "static", ("vendor/swagger-ui", _SWAGGER_UI)]
WHITENOISE_USE_FINDERS = env.read_flag("STATIC_WITHOUT_COLLECT", default=DEBUG)
MEDIA_ROOT = Path(env.read_text("MEDIA_ROOT", str(DATA_DIR / "media")))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if WHITENOISE_USE_FINDERS
        else "config.static_files.MinifiedStaticFilesStorage"
    },
}

# Pixels: a larger image is refused as a decompression bomb.
IMAGE_MAX_PIXELS = env.read_number("IMAGE_MAX_PIXELS", 50_000_000, least=1)
# Limits of one upload, packed and unpacked.
UPLOAD_MAX_BYTES = env.read_number("UPLOAD_MAX_BYTES", 50_000_000_000, least=1)
# How images are compared in the search for near duplicates: a contrastive model (which the site's own worker then
# loads), or colour and gradient if empty; the distance limit; known test sets to compare with.
NEAR_DUPLICATE_MODEL = env.read_text("NEAR_DUPLICATE_MODEL")
NEAR_DUPLICATE_BELOW = env.read_distance("NEAR_DUPLICATE_BELOW")
KNOWN_SETS_DIR = env.read_text("KNOWN_SETS_DIR")
PROLIFIC_ADDRESS = env.read_service("PROLIFIC_ADDRESS", "https://api.prolific.com")
PROLIFIC_SITE = env.read_site("PROLIFIC_SITE", "https://app.prolific.com")
PROLIFIC_COMPLETION_URL = f"{PROLIFIC_SITE}/submissions/complete"

LOGIN_URL = "sign_in"
CSRF_FAILURE_VIEW = "workspace.kept_forms.show_stale_form"
# Whether all users may create a project; else superusers only.
ANYBODY_MAKES_PROJECTS = env.read_flag("ANYBODY_MAKES_PROJECTS", default=True)
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign_in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# Mail for invitations and forgotten passwords. Without a server or a sender, people pass links on themselves.
_MAIL = env.read_mail("MAIL_URL")
EMAIL_HOST, EMAIL_PORT = _MAIL.host, _MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _MAIL.user, _MAIL.password
EMAIL_USE_SSL, EMAIL_USE_TLS = _MAIL.encrypted, _MAIL.starttls
EMAIL_TIMEOUT = 10
MAIL_FROM = env.read_text("MAIL_FROM").strip() if EMAIL_HOST else ""
PASSWORD_RESET_TIMEOUT = 3600

# Single sign-on by OpenID Connect, off unless an issuer is named. New accounts need an invitation, unless everybody
# whom the provider lets in may have one.
OIDC_ISSUER = env.read_issuer("OIDC_ISSUER")
OIDC_CLIENT_ID = env.read_text("OIDC_CLIENT_ID", needed=bool(OIDC_ISSUER))
OIDC_CLIENT_SECRET = env.read_text("OIDC_CLIENT_SECRET", needed=bool(OIDC_ISSUER))
OIDC_NAME = env.read_text("OIDC_NAME", "your organisation")
OIDC_SIGN_UP = env.read_flag("OIDC_SIGN_UP", default=False)
SOCIALACCOUNT_ADAPTER = "workspace.single_sign_on.SignOnAdapter"
ACCOUNT_ADAPTER = "workspace.single_sign_on.AccountAdapter"
# The site's own pages confirm addresses and count attempts.
ACCOUNT_EMAIL_VERIFICATION = SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_UNIQUE_EMAIL = False
ACCOUNT_RATE_LIMITS = False

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = env.read_number("HSTS_SECONDS", 31_536_000 if HTTPS else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
# A TLS proxy in front sets this header; without one the header must not be trusted.
if env.read_flag("BEHIND_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Trusted proxies in X-Forwarded-For, for limits per network: none by default.
TRUSTED_PROXIES = env.read_proxies("TRUSTED_PROXIES")
# The container requests these two over plain http.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
# Entry links contain Prolific ids: they must never reach another site in a Referer.
SECURE_REFERRER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF, PROLIFIC_SITE],
    }
}

# Store of rate limit counts: the database, or the Redis server named here.
CACHE_URL = env.read_cache("CACHE_URL")
# Requests per token of the API and minute; 0 is unlimited.
API_REQUESTS_PER_MINUTE = env.read_number("API_REQUESTS_PER_MINUTE", 600)
# Prolific's fee in percent of annotators' pay, for the cost shown before a launch.
PLATFORM_FEE_PERCENT = env.read_amount("PLATFORM_FEE_PERCENT", "33.33")
# Minimum hourly pay in dollars without a warning; Prolific allows no less than this.
LEAST_HOURLY_PAY = env.read_amount("LEAST_HOURLY_PAY", "8.00")
# For how many days after their last session people can be looked up by their id; 0 is without end.
IDS_KEPT_DAYS = env.read_number("IDS_KEPT_DAYS", 365)
# New annotators per network in ten minutes; 0 is unlimited. A university is one network.
ARRIVALS_PER_NETWORK = env.read_number("ARRIVALS_PER_NETWORK", 60)
# Percentage of a study's open places that one network may hold; 0 is unlimited. Five places are always allowed.
PLACES_PER_NETWORK = env.read_number("PLACES_PER_NETWORK", 10)
# Whether the times that browsers report are compared with the server's clock. Off where programs answer, for tests.
CHECK_TIMES = env.read_flag("CHECK_TIMES", default=True)

BROKER_DIR = DATA_DIR / "broker"
CELERY_BROKER_URL = env.read_text("CELERY_BROKER_URL", "filesystem://localhost")
# Token of workers with models that do not share this machine's media folder; without it no worker may fetch images.
WORKER_TOKEN = env.read_token("LINEUP_WORKER_TOKEN")
# Models that pages and scripts may run. A spec says what a worker loads, also from its own disks, so other models need
# a shell on the server.
MODELS_OFFERED = env.read_list(
    "MODELS_OFFERED",
    "text-only:ngrams,image-only:colour-and-gradient,open_clip:ViT-B-32/openai,open_clip:ViT-L-14/openai,"
    "hf:google/siglip-base-patch16-224,hf:Salesforce/blip-itm-base-coco",
)
# Whether webhooks may use private networks, this machine and plain http: for tests.
WEBHOOKS_TO_PRIVATE_ADDRESSES = env.read_flag("WEBHOOKS_TO_PRIVATE_ADDRESSES", default=False)
# Where releases are pushed to: the Hugging Face Hub, or a compatible server.
HUB_URL = env.read_site("HF_ENDPOINT", "https://huggingface.co")
# Called with every event, in its transaction: lower rooms do not know the listeners.
TOLD_OF_EVENTS = [
    "results.actions.cached_statistics.drop_withdrawn",
    "results.actions.policies.note_resumed",
    "workspace.actions.webhooks.queue_event",
]
# Kinds of jobs: name in the database -> its `background.work.Work`.
JOBS = {
    "annotation.extension": "annotation.actions.launching.study_jobs.EXTENSION",
    "annotation.money_check": "annotation.actions.paying.compare_with_platform.CHECK",
    "annotation.launch": "annotation.actions.launching.study_jobs.LAUNCH",
    "making.pipeline": "making.actions.pipelines.MAKE",
    "results.chart": "results.actions.charts.CHART",
    "results.export": "results.actions.exports.EXPORT",
    "results.training_data": "results.actions.training_data.TRAINING_DATA",
    "results.numbers": "results.actions.cached_statistics.NUMBERS",
    "simulation.demo_project": "simulation.actions.demo_project.DEMO",
    "studies.import": "studies.actions.imports.import_jobs.IMPORT",
    "workspace.delete_project": "workspace.actions.project_deletion.DELETION",
    "workspace.hub": "workspace.actions.hub.PUSH",
    "workspace.model_card": "workspace.actions.model_push.CARD_PUSH",
    "workspace.hub_download": "workspace.actions.hub_datasets.DOWNLOAD",
    "predictions.near_duplicates": "predictions.actions.duplicates.NEAR_DUPLICATES",
}
# What a draft asks about that comes from another study, as of a moment: studies come before answers, and know none.
ARRIVING = "annotation.actions.launching.launch.upstream_items"
# Whether an annotator's page from before pictures had handles shows a picture: studies know no sessions.
SHOWN_ON_OLD_PAGES = "annotation.actions.answering.old_pages.shows_image"

# Generation of the API's schema.
REST_FRAMEWORK = {"DEFAULT_SCHEMA_CLASS": "workspace.api.framework.schema.EndpointSchema"}
SPECTACULAR_SETTINGS = {
    "TITLE": "Lineup",
    "VERSION": "1",
    "DESCRIPTION": "Everything that researchers do on Lineup's pages, for scripts. See docs/api.md.",
    "OAS_VERSION": "3.0.3",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "workspace.api.framework.schema.with_problem",
    ],
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "StudyState": "studies.models.StudyState.choices",
        "DeliveryState": "workspace.models.DeliveryState.choices",
        "HubPushState": "workspace.api.serializers.PUSH_STATES",
        "ExportState": "workspace.api.serializers.EXPORT_STATES",
        "ImportState": "workspace.api.serializers.IMPORT_STATES",
        "ManifestFormatEnum": "studies.importing.IMPORTERS",
        "Role": "workspace.api.members.ROLES",
        "TokenScope": "workspace.models.Scope.choices",
    },
    # Requests may leave out fields with a default, and send files as bytes.
    "COMPONENT_SPLIT_REQUEST": True,
}

LOGGING = LINES | {"root": {"handlers": ["stderr"], "level": env.read_level("LOG_LEVEL", "INFO")}}
