import type { OperationId } from '../../generated/operations.ts';

/** Expected statuses of each operation. The interface leaves them open, so this copy detects an accidental removal. */

// Statuses of all operations with an API key.
const keyed = [400, 401, 429, 500];
const body = [413, 415];
// The database, or every account of a provider, may be unavailable.
const away = [503];
const provider = [502, ...away, 504];

/** Statuses of requests that are forwarded to a provider, with a model that may be unknown or not allowed. */
const created = [200, ...keyed, 403, 404, ...body, ...provider];
/** Statuses of requests for a stored object by id. */
const storedObject = [200, ...keyed, 404, ...away];
const listed = [200, ...keyed, ...away];
const socket = [101, ...keyed, 403, 404, 426, ...away];
/** Statuses of operations on keys and the log. */
const managed = listed;
/** Statuses of operations for the operator. */
const operated = [...managed, 403];

export const statuses: Readonly<Record<OperationId, readonly number[]>> = {
  createSpeech: created,
  synthesizeSpeech: created,
  generateMultimodalSpeech: created,
  customizeVoice: created,
  openInferenceSocket: socket,
  openRealtimeSocket: socket,

  createGenericVideo: created,
  getGenericVideo: storedObject,
  createVideo: created,
  listVideos: listed,
  getVideo: storedObject,
  deleteVideo: storedObject,
  downloadVideoContent: [200, 206, ...keyed, 404, 416, ...provider],
  createNativeVideo: created,
  // An unknown id returns a task with status UNKNOWN.
  getNativeTask: listed,
  cancelNativeTask: [200, ...keyed, 404, ...provider],
  createOfficialVideo: created,
  listOfficialVideos: listed,
  getOfficialVideo: storedObject,
  deleteOfficialVideo: [204, ...keyed, 404, ...provider],
  createModel3d: created,
  uploadAsset: created,
  // If the provider does not respond, the last known state is returned.
  getAsset: storedObject,

  // Both can continue a song, which must exist and be complete.
  submitMusic: [...created, 409],
  createMusic: [...created, 409],
  submitLyrics: created,
  fetchMusicTask: storedObject,
  fetchMusicTasks: [...listed, ...body],
  getClip: storedObject,
  getClipWav: [200, ...keyed, 404, 409, ...provider],
  getClipTiming: [200, ...keyed, 404, 409, ...provider],
  getMusic: storedObject,

  submitImagine: created,
  submitImageModal: [200, ...keyed, 404, ...body, ...provider],
  submitImageAction: created,
  fetchImageJob: storedObject,
  listImageJobs: [...listed, ...body],
  createEmbedding: created,
  createMessage: created,
  countMessageTokens: created,

  createToken: [...managed, 403, ...body],
  // No key and no input: the assertion alone.
  createSession: [200, 401, 403, 404, 429, 500, 503],
  listTokens: managed,
  deleteToken: [...managed, 403, 404],
  searchLogs: managed,
  listCallbacks: managed,
  // The operation has no input.
  getMe: managed.filter((status) => status !== 400),
  listMyTasks: managed,
  getMyTask: storedObject,
  getMyUsage: managed,
  listMyLog: managed,
  listMyPrices: [200, 401, 429, 500, 503],
  listMyMembers: operated.filter((status) => status !== 400),
  createMyMember: [...operated, ...body],
  updateMyMember: [...operated, 404, ...body],
  deleteMyMember: [...operated, 404],
  listUserMembers: [...operated, 404],
  createUserMember: [...operated, 404, ...body],
  updateUserMember: [...operated, 404, ...body],
  deleteUserMember: [...operated, 404],
  getMyStatement: [...operated, 404],
  listMyStatements: [...operated, 404],
  listMyBudgets: [200, 401, 429, 500, 503],
  // A key with limits must not manage the endpoints of its user.
  listEndpoints: [...managed.filter((status) => status !== 400), 403],
  createEndpoint: [...managed, 403, ...body],
  getEndpoint: [...managed, 403, 404],
  updateEndpoint: [...managed, 403, 404, ...body],
  deleteEndpoint: [...managed, 403, 404],
  rotateEndpointSecret: [...managed, 403, 404],
  testEndpoint: [...managed, 403, 404],
  listEndpointDeliveries: [...managed, 403, 404],
  resendEndpointDelivery: [...managed, 403, 404],
  listMyAccounts: operated.filter((status) => status !== 400),
  createMyAccount: [...operated, ...body],
  updateMyAccount: [...operated, 404, ...body],
  listMyAccountTokens: [...operated, 404],
  createMyAccountToken: [...operated, 404, ...body],
  updateMyAccountToken: [...operated, 404, ...body],
  deleteMyAccountToken: [...operated, 404],
  createVerificationSession: created,
  getVerificationSession: [200, ...keyed, 404, ...provider],

  listModels: [200, 401, 429, 500, ...away],
  getModel: storedObject,

  listUsers: operated,
  createUser: [...operated, ...body],
  getUser: [...operated, 404],
  updateUser: [...operated, 404, ...body],
  listGroups: operated,
  searchTokens: operated,
  createUserToken: [...operated, 404, ...body],
  updateToken: [...operated, 404, ...body],
  grantQuota: [...operated, 404, ...body],
  explainCharge: [...operated, 404],
  refundCall: [...operated, 404, ...body],
  revokeToken: [...operated, 404],
  listChanges: operated,
  reloadConfiguration: operated,
  searchTasks: operated,
  getTask: [...operated, 404],
  cancelTask: [200, ...keyed, 403, 404, ...provider],
  settleTask: [...operated, 404, ...body],
  searchDeliveries: operated,
  resendDelivery: [...operated, 404],
  listBudgets: operated,
  createBudget: [...operated, 404, ...body],
  updateBudget: [...operated, 404, ...body],
  deleteBudget: [...operated, 404],
  listOperatorEndpoints: operated.filter((status) => status !== 400),
  createOperatorEndpoint: [...operated, ...body],
  getOperatorEndpoint: [...operated, 404],
  updateOperatorEndpoint: [...operated, 404, ...body],
  deleteOperatorEndpoint: [...operated, 404],
  rotateOperatorEndpointSecret: [...operated, 404],
  testOperatorEndpoint: [...operated, 404],
  listOperatorEndpointDeliveries: [...operated, 404],
  resendOperatorEndpointDelivery: [...operated, 404],
  // The operation has no input.
  auditBooks: operated.filter((status) => status !== 400),
  releaseGateway: operated.filter((status) => status !== 400),
  exportLogs: operated,
  showFigures: operated,
  listChannels: operated,
  testChannel: [...operated, 404],
  enableChannel: [...operated, 404],
  disableChannel: [...operated, 404, ...body],
  getUserStatement: [...operated, 404],
  listUserStatements: [...operated, 404],
  // The conformance kit may be missing.
  testConformance: [...operated, 404, ...body],
  getWallet: [...operated, 404],
  openWallet: [...operated, 404],
  grantToWallet: [...operated, 404, ...body],
  listWalletGrants: [...operated, 404],
  auditPrices: [200, 401, 403, 429, 500, 503],
  explainPrice: [200, 400, 401, 403, 404, 413, 415, 429, 500, 503],
  // The link authorizes the request.
  getFile: [200, 206, 400, 404, 416, 500, ...provider],
  getHomePage: [200, 304, 404, 500],
  getDocs: [200, 304, 404, 500],
  getDocsFile: [200, 304, 400, 404, 500],
  getConsole: [200, 304, 404, 500],
  getConsoleFile: [200, 304, 400, 404, 500],
  getHealth: [200, 500],
  getReadiness: [200, 500, ...away],
  getOpenApiDocument: [200, 500],
  getAsyncApiDocument: [200, 500],
};

const fileHeaders = ['accept-ranges', 'cache-control', 'content-disposition', 'x-content-type-options'];

const siteHeaders = {
  200: ['cache-control', 'content-security-policy', 'etag'],
  304: ['cache-control', 'etag'],
};

const servedModel = { 200: ['x-unigate-model'] };
const charge = { 200: ['x-unigate-cost'] };
const servedModelAndCharge = { 200: ['x-unigate-model', 'x-unigate-cost'] };

/** Required headers by status, and optional headers by operation. */
export const headers = {
  always: ['x-request-id'],
  /** Public messages clients read this header instead. */
  messages: ['request-id'],
  byStatus: { 429: ['retry-after'], 503: ['retry-after'] } as Readonly<Record<number, readonly string[]>>,
  optional: {
    synthesizeSpeech: servedModelAndCharge,
    createSpeech: servedModelAndCharge,
    generateMultimodalSpeech: servedModelAndCharge,
    createMessage: servedModelAndCharge,
    createNativeVideo: servedModel,
    createVideo: servedModel,
    createOfficialVideo: servedModel,
    createGenericVideo: servedModel,
    createModel3d: servedModel,
    createEmbedding: servedModelAndCharge,
    customizeVoice: charge,
    createVerificationSession: charge,
    downloadVideoContent: {
      200: ['accept-ranges'],
      206: ['accept-ranges', 'content-range'],
      416: ['content-range'],
    },
    exportLogs: { 200: ['content-disposition'] },
    createSession: { 200: ['cache-control'] },
    listMyLog: { 200: ['content-disposition'] },
    getMyStatement: { 200: ['content-disposition', 'content-security-policy'] },
    getUserStatement: { 200: ['content-disposition', 'content-security-policy'] },
    getHomePage: siteHeaders,
    getDocs: siteHeaders,
    getDocsFile: siteHeaders,
    getConsole: siteHeaders,
    getConsoleFile: siteHeaders,
    getFile: { 200: fileHeaders, 206: [...fileHeaders, 'content-range'], 416: ['content-range'] },
  } as Readonly<Partial<Record<string, Readonly<Record<number, readonly string[]>>>>>,
};
