const nothingFails = 'The operation reads nothing that can fail. 500 is documented for unexpected errors.';
const notBuilt = 'Needs a gateway whose pages are not built.';
const unpriced = 'Needs a model without a price in the configuration.';

/** Documented responses that the conformance kit does not cover on the gateway, by operation, with reasons. */
export const exemptResponses: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  getHomePage: { '404 application/json': notBuilt, '500 application/json': nothingFails },
  getDocs: { '404 application/json': notBuilt, '500 application/json': nothingFails },
  getDocsFile: { '500 application/json': nothingFails },
  getConsole: { '404 application/json': notBuilt, '500 application/json': nothingFails },
  getConsoleFile: {
    '200 text/css': 'The names of its style sheets contain a hash.',
    '500 application/json': nothingFails,
  },
  getHealth: { '500 application/json': nothingFails },
  getOpenApiDocument: { '500 application/json': nothingFails },
  getAsyncApiDocument: { '500 application/json': nothingFails },
  uploadAsset: {
    '404 application/json': 'Needs a configuration without any model that accepts assets.',
  },
  submitImageAction: {
    '403 application/json': 'Needs a key whose quota runs out after it created an image job.',
  },
  submitLyrics: { '404 application/json': unpriced },
  submitImagine: { '404 application/json': unpriced },
  createVerificationSession: { '404 application/json': unpriced },
  getFile: {
    '500 application/json': nothingFails,
    '503 application/json': 'Needs hundreds of concurrent downloads from one host.',
    '504 application/json': 'Needs a file host that sends nothing for 30 s.',
  },
  testConformance: {
    '404 application/json': 'Needs an installation without the conformance kit.',
  },
  createSession: {
    '404 application/json': 'Needs a gateway without USER_ASSERTION_SECRET.',
    '429 application/json': 'Needs 60 exchanges in a minute. The unit tests cover it.',
  },
  downloadVideoContent: { '504 application/json': 'Needs a file host that sends nothing for 30 s.' },
};

/** Documented events that the conformance kit does not cover, with reasons. */
export const exemptEvents: Readonly<Record<string, string>> = {
  'eventCallback server BudgetReachedEvent':
    'Needs charged calls of a key with a budget. The unit tests cover it.',
  'eventCallback server ChannelUnhealthyEvent': 'Needs a provider that fails repeatedly.',
  'eventCallback server QuotaExhaustedEvent': 'Needs a key that runs out of quota. The unit tests cover it.',
  'eventCallback server QuotaLowEvent': 'Needs a key that runs out of quota. The unit tests cover it.',
  'eventCallback server TaskStuckEvent': 'Needs a provider that reports nothing for 15 minutes.',
  'conformanceRun server CheckWaiting': 'Needs a check that takes 15 s.',
  'conformanceRun server RunFailed': 'Needs a server that cannot be reached.',
};

const noCode = 'Needs a provider error without a code.';
const unserved = 'Needs a catalog model that no channel serves.';
const inSession = 'Needs a provider failure or error during a session.';
const keyInSession = 'Needs a key that changes or runs out of quota during a session.';
const stopping = 'Needs a gateway that is shutting down.';
const maintained = 'Needs a gateway in maintenance mode.';
const storeAway = 'Needs a store that becomes unavailable during a session.';
const noBody = 'Needs a provider failure without a body. Native routes forward other failures.';

/** Codes of errors.yaml that the conformance kit does not cover on the gateway, with reasons. */
export const exemptErrors: Readonly<Record<string, string>> = {
  'generic 400 InvalidParameter': 'Needs a beta provider error with an unknown number.',
  'generic 404 bad_request': noCode,
  'generic 413 bad_request': noCode,
  'generic 415 bad_request': noCode,
  'generic 503 draining': stopping,
  'generic 503 maintenance': maintained,
  'generic 503 model_not_found': unserved,
  'inference AccessDenied': keyInSession,
  'inference InternalError': inSession,
  'inference InvalidApiKey': keyInSession,
  'inference ServiceRestarting': stopping,
  'inference ServiceUnavailable': inSession,
  'inference Throttling.RateQuota': inSession,
  'messages 404 bad_request': noCode,
  'messages 413 bad_request': noCode,
  'messages 415 bad_request': noCode,
  'messages 503 maintenance': maintained,
  'messages 503 model_not_found': unserved,
  'native 400 bad_request': noCode,
  'native 404 bad_request': noCode,
  'native 413 bad_request': noCode,
  'native 415 bad_request': noCode,
  'native 502 bad_response_status_code': noBody,
  'native 503 get_channel_failed': noBody,
  'native 503 maintenance': maintained,
  'native 503 model_not_found': unserved,
  'native 504 upstream_timeout': noBody,
  'realtime access_denied': keyInSession,
  'realtime client_too_slow': 'Needs a client that leaves megabytes unread for a minute.',
  'realtime get_channel_failed': inSession,
  'realtime insufficient_user_quota': keyInSession,
  'realtime internal_error': inSession,
  'realtime invalid_api_key': keyInSession,
  'realtime rate_limit_exceeded': inSession,
  'realtime service_restarting': stopping,
  'realtime store_unavailable': storeAway,
  'realtime upstream_timeout': inSession,
  'task AssetFailed': 'Needs a provider that fails an accepted asset.',
  'task content_moderated': 'Needs an eta provider that blocks the result of a task.',
  'task image_generation_failed': 'Needs an image job that fails at the provider without a reason.',
  'task music_generation_failed': 'Needs a music task that fails at the provider without a reason.',
  'task submission_interrupted': 'Needs a gateway that is killed while a provider accepts a task.',
  'task task_canceled': 'Needs a canceled task on a route with codes.',
  'task task_lost': 'Needs a provider that loses an accepted task.',
  'task video_generation_failed': 'Needs a video that fails at the provider without a reason.',
};
