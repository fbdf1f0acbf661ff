"""All settings, read from the environment; each has a default that is safe on one machine. README lists them."""

from pathlib import Path
from typing import Any

import django_stubs_ext
import drf_spectacular_sidecar
from csp.constants import NONE, SELF

from config.environment import (
    read_amount,
    read_cache,
    read_database,
    read_distance,
    read_flag,
    read_folder,
    read_issuer,
    read_level,
    read_list,
    read_mail,
    read_number,
    read_proxies,
    read_secret,
    read_site,
    read_text,
    read_token,
)
from config.logs import LINES

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = read_folder("DATA_DIR", BASE_DIR / "var")
DEBUG = read_flag("DEBUG", default=False)
# Production is served through https; one machine on loopback is not.
HTTPS = read_flag("HTTPS", default=False)

SECRET_KEY = read_secret("SECRET_KEY", DATA_DIR / "secret_key", https=HTTPS)
ALLOWED_HOSTS = read_list("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = read_list("CSRF_TRUSTED_ORIGINS")
# Where the outside world finds the site; links for Prolific and the demo start with it.
SITE_URL = read_site("SITE_URL", "http://127.0.0.1:8000")

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
    # Signing in with an account elsewhere (docs/decisions/0047).
    "allauth.account",
    "allauth.socialaccount",
    "background",
    "throttle",
    "studies",
    "annotation",
    "predictions",
    "results",
    "simulation",
    "workspace",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "annotation.language.ReadersLanguageMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "config.content_security.SitePolicyMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "workspace.signed_in_browsers.SeenMiddleware",
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
    # How questions look, and nothing else (docs/decisions/0027).
    {"NAME": "questions", "BACKEND": "django.template.backends.jinja2.Jinja2", "DIRS": [BASE_DIR / "templates"]},
]

DATABASES = {
    "default": read_database(
        read_text("DATABASE_URL", f"sqlite:///{DATA_DIR / 'db.sqlite3'}"),
        connection_seconds=read_number("DATABASE_CONNECTION_SECONDS", 600),
    )
}

LANGUAGE_CODE = "en"
# Of the annotators' pages: CONTRIBUTING says how to add one.
LANGUAGES = [("en", "English"), ("es", "Español"), ("eu", "Euskara"), ("ar", "العربية")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATIC_ROOT = Path(read_text("STATIC_ROOT", str(BASE_DIR / "staticfiles")))
# Swagger UI shows the API on /api/docs/; the other viewer that comes in its package is not served.
_SWAGGER_UI = Path(drf_spectacular_sidecar.__file__).parent / "static/drf_spectacular_sidecar/swagger-ui-dist"
STATICFILES_DIRS = [BASE_DIR / "static", ("vendor/swagger-ui", _SWAGGER_UI)]
WHITENOISE_USE_FINDERS = read_flag("STATIC_WITHOUT_COLLECT", default=DEBUG)
MEDIA_ROOT = Path(read_text("MEDIA_ROOT", str(DATA_DIR / "media")))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if WHITENOISE_USE_FINDERS
        else "config.static_files.MinifiedStaticFilesStorage"
    },
}

# An image larger than this when decoded is refused as a decompression bomb.
IMAGE_MAX_PIXELS = read_number("IMAGE_MAX_PIXELS", 50_000_000, least=1)
# What one upload may hold, unpacked or not.
UPLOAD_MAX_BYTES = read_number("UPLOAD_MAX_BYTES", 50_000_000_000, least=1)
# By what pictures are compared that may be nearly the same: a contrastive model (which the site's own worker then
# loads), or colour and gradient where this is empty; how near they are then; known test sets to compare with.
NEAR_DUPLICATE_MODEL = read_text("NEAR_DUPLICATE_MODEL")
NEAR_DUPLICATE_BELOW = read_distance("NEAR_DUPLICATE_BELOW")
KNOWN_SETS_DIR = read_text("KNOWN_SETS_DIR")
PROLIFIC_COMPLETION_URL = "https://app.prolific.com/submissions/complete"

LOGIN_URL = "sign_in"
# Whether everybody who signs in may begin a project; else superusers only.
ANYBODY_MAKES_PROJECTS = read_flag("ANYBODY_MAKES_PROJECTS", default=True)
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign_in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# Mail, for invitations and forgotten passwords. Without a server or a sender, links are handed over by hand.
_MAIL = read_mail("MAIL_URL")
EMAIL_HOST, EMAIL_PORT = _MAIL.host, _MAIL.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _MAIL.user, _MAIL.password
EMAIL_USE_SSL, EMAIL_USE_TLS = _MAIL.encrypted, _MAIL.starttls
EMAIL_TIMEOUT = 10
MAIL_FROM = read_text("MAIL_FROM").strip() if EMAIL_HOST else ""
PASSWORD_RESET_TIMEOUT = 3600

# With whose accounts people may also sign in, by OpenID Connect; with nobody's unless an issuer is named. New accounts
# come by invitation only, unless everybody whom the provider lets in may have one.
OIDC_ISSUER = read_issuer("OIDC_ISSUER")
OIDC_CLIENT_ID = read_text("OIDC_CLIENT_ID", needed=bool(OIDC_ISSUER))
OIDC_CLIENT_SECRET = read_text("OIDC_CLIENT_SECRET", needed=bool(OIDC_ISSUER))
OIDC_NAME = read_text("OIDC_NAME", "your organisation")
OIDC_SIGN_UP = read_flag("OIDC_SIGN_UP", default=False)
SOCIALACCOUNT_ADAPTER = "workspace.single_sign_on.SignOnAdapter"
ACCOUNT_ADAPTER = "workspace.single_sign_on.AccountAdapter"
# Addresses are confirmed, and attempts counted, by the site's own doors.
ACCOUNT_EMAIL_VERIFICATION = SOCIALACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_UNIQUE_EMAIL = False
ACCOUNT_RATE_LIMITS = False

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = read_number("HSTS_SECONDS", 31_536_000 if HTTPS else 0)
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
# A proxy in front that ends https says so in this header; without one the header must not be believed.
if read_flag("BEHIND_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Which addresses in X-Forwarded-For are believed, for limits per network: none unless the site says so.
TRUSTED_PROXIES = read_proxies("TRUSTED_PROXIES")
# The container asks these two over plain http.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
# Entry links carry Prolific ids: they must never reach another site in a Referer.
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF, "https://app.prolific.com"],
    }
}

# Where counts that limit something are kept: in the database, unless this names a Redis server.
CACHE_URL = read_cache("CACHE_URL")
# How many requests a token of the API may make in a minute; 0 is any number.
API_REQUESTS_PER_MINUTE = read_number("API_REQUESTS_PER_MINUTE", 600)
# What Prolific takes on top of what annotators are paid, in percent, for the cost that a launch foresees.
PLATFORM_FEE_PERCENT = read_amount("PLATFORM_FEE_PERCENT", "33.33")
# The least that an hour may be paid, in dollars, without a warning; Prolific allows no less than this.
LEAST_HOURLY_PAY = read_amount("LEAST_HOURLY_PAY", "8.00")
# How many new annotators may come from one network in ten minutes; 0 is any number. A university is one network.
ARRIVALS_PER_NETWORK = read_number("ARRIVALS_PER_NETWORK", 60)
# What share of the open places of a study one network may hold, in percent; 0 is any. Five places are always allowed.
PLACES_PER_NETWORK = read_number("PLACES_PER_NETWORK", 10)
# Whether the times that browsers claim are compared with the server's clock. Off where programs answer, to try things.
CHECK_TIMES = read_flag("CHECK_TIMES", default=True)

BROKER_DIR = DATA_DIR / "broker"
CELERY_BROKER_URL = read_text("CELERY_BROKER_URL", "filesystem://localhost")
# Workers with models that do not share this machine's media folder get pictures by this; nobody does without one.
WORKER_TOKEN = read_token("LINEUP_WORKER_TOKEN")
# Which models pages and scripts may ask. A spec says what a worker loads, from its own disks too, so only whoever has a
# shell on the server asks others.
MODELS_OFFERED = read_list(
    "MODELS_OFFERED",
    "text-only:ngrams,image-only:colour-and-gradient,open_clip:ViT-B-32/openai,open_clip:ViT-L-14/openai,"
    "hf:google/siglip-base-patch16-224,hf:Salesforce/blip-itm-base-coco",
)
# Whether webhooks may lead into private networks and to this machine, and go without https: for trying out.
WEBHOOKS_TO_PRIVATE_ADDRESSES = read_flag("WEBHOOKS_TO_PRIVATE_ADDRESSES", default=False)
# Where releases are pushed to: the Hugging Face Hub, or one like it.
HUB_URL = read_site("HF_ENDPOINT", "https://huggingface.co")
# What is told of every event, in its transaction: rooms below do not know who listens.
TOLD_OF_EVENTS = ["workspace.actions.webhooks.note"]
# What a job can be: the name that it has in the database -> its `background.work.Work`.
JOBS = {
    "results.export": "results.actions.exports.EXPORT",
    "results.numbers": "results.actions.cached_statistics.NUMBERS",
    "studies.import": "studies.actions.imports.import_jobs.IMPORT",
    "workspace.hub": "workspace.actions.hub.PUSH",
    "predictions.near_duplicates": "predictions.actions.duplicates.NEAR_DUPLICATES",
}
# What a draft asks about that comes from another study, as of a moment: studies come before answers, and know none.
ARRIVING = "annotation.actions.launching.launch.upstream_items"
# Whether an annotator's page from before pictures had handles shows a picture: studies know no sessions.
SHOWN_ON_OLD_PAGES = "annotation.actions.answering.old_pages.shows_image"

# How the schema of the API is made.
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
    # In requests what has a default may be left out, and a file is bytes.
    "COMPONENT_SPLIT_REQUEST": True,
}

LOGGING = LINES | {"root": {"handlers": ["stderr"], "level": read_level("LOG_LEVEL", "INFO")}}
