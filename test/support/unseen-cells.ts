const nothingFails = 'It reads nothing that could fail; 500 is documented for what nobody thought of.';
const unpriced = 'The operator has to leave the model without a price.';

/** Documented answers that the conformance kit does not bring our gateway to, by operation, each with its reason. */
export const unseenCells: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  getHomePage: { '500 application/json': nothingFails },
  getDocs: { '500 application/json': nothingFails },
  getDocsFile: { '500 application/json': nothingFails },
  getHealth: { '500 application/json': nothingFails },
  getOpenApiDocument: { '500 application/json': nothingFails },
  getAsyncApiDocument: { '500 application/json': nothingFails },
  uploadAsset: {
    '404 application/json':
      'It is for a gateway whose configuration has none of the models that take assets.',
  },
  submitImageAction: {
    '403 application/json': 'The quota of a key has to run out after it created an image job.',
  },
  submitLyrics: { '404 application/json': unpriced },
  submitImagine: { '404 application/json': unpriced },
  createVerificationSession: { '404 application/json': unpriced },
  getFile: {
    '500 application/json': nothingFails,
    '503 application/json': 'Hundreds of files of one host have to be loaded at a time.',
    '504 application/json': 'A host of files has to be silent for half a minute.',
  },
  downloadVideoContent: { '504 application/json': 'A host of files has to be silent for half a minute.' },
};

/** Documented events that no dialogue of the conformance kit leads to, each with its reason. */
export const unseenEvents: Readonly<Record<string, string>> = {};

const noCode = 'A provider has to refuse so and give no code.';
const unserved = 'A model of the catalogue has to be one that no channel serves.';
const inSession = 'A provider has to fail or refuse in the middle of a session.';
const keyInSession = 'The key has to be changed, or to run out, in the middle of a session.';
const stopping = 'The gateway has to be about to stop.';
const storeAway = 'The store has to go away in the middle of a session.';
const ownWords = 'The provider has to fail without words of its own, which native routes pass on.';

/** Codes of the catalogue that the conformance kit does not bring our gateway to, each with its reason. */
export const unseenErrors: Readonly<Record<string, string>> = {
  'generic 400 InvalidParameter': 'The provider of a beta model has to refuse with a number of its own.',
  'generic 404 bad_request': noCode,
  'generic 413 bad_request': noCode,
  'generic 415 bad_request': noCode,
  'generic 503 draining': stopping,
  'generic 503 model_not_found': unserved,
  'inference AccessDenied': keyInSession,
  'inference InternalError': inSession,
  'inference InvalidApiKey': keyInSession,
  'inference ServiceRestarting': stopping,
  'inference ServiceUnavailable': storeAway,
  'inference Throttling.RateQuota': inSession,
  'messages 404 bad_request': noCode,
  'messages 413 bad_request': noCode,
  'messages 415 bad_request': noCode,
  'messages 503 model_not_found': unserved,
  'native 400 bad_request': noCode,
  'native 404 bad_request': noCode,
  'native 413 bad_request': noCode,
  'native 415 bad_request': noCode,
  'native 502 bad_response_status_code': ownWords,
  'native 503 get_channel_failed': ownWords,
  'native 503 model_not_found': unserved,
  'native 504 upstream_timeout': ownWords,
  'realtime access_denied': keyInSession,
  'realtime client_too_slow': 'The client has to leave megabytes unread for a minute.',
  'realtime insufficient_user_quota': keyInSession,
  'realtime internal_error': inSession,
  'realtime invalid_api_key': keyInSession,
  'realtime rate_limit_exceeded': inSession,
  'realtime service_restarting': stopping,
  'realtime store_unavailable': storeAway,
  'realtime upstream_timeout': inSession,
  'task AssetFailed': 'The provider has to give up an asset that it took.',
  'task content_moderated': 'An eta provider has to refuse the result of a task.',
  'task image_generation_failed': 'The provider of image jobs has to fail without a reason.',
  'task music_generation_failed': 'The provider of music has to fail without a reason.',
  'task submission_interrupted': 'The gateway has to be killed while a provider takes a task.',
  'task task_canceled': 'A task that was canceled has to be shown by a route with codes.',
  'task task_lost': 'The provider has to forget a task that it took.',
  'task video_generation_failed': 'The provider of videos has to fail without a reason.',
};
