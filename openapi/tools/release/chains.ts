import {
  deref,
  isObject,
  type Json,
  type JsonObject,
  type Operation,
  objects,
  strings,
} from '../document.ts';

/** An id that the response to one request returns and later requests need. */
interface Chain {
  variable: string;
  /** The id in examples, which is the initial value of the variable. */
  example: string;
  /** operationId, or operationId and example -> path of the id in its response. */
  from: Readonly<Record<string, string>>;
  /** Operations with a path parameter that is the id, and operations with the id in their bodies. */
  to: readonly string[];
}

const task = 'task_0a1b2c3d4e5f60718293a4b5c6d7e8f9';
const clip = '9be08d47-a1b5-4c6d-97e8-f9a0b1c23f1c';

export const chains: readonly Chain[] = [
  {
    variable: 'voiceId',
    example: 'voxa-v3.5-flash-narrator-8f3a1c',
    from: { customizeVoice: 'output.voice_id' },
    to: ['customizeVoice'],
  },
  {
    variable: 'alphaVoice',
    example: 'alpha-tts-vd-guide-voice-20260201-a1b2',
    from: { customizeVoice: 'output.voice' },
    to: ['customizeVoice'],
  },
  {
    variable: 'assetId',
    example: 'asset-20260301120000-k3v9q',
    from: { 'uploadAsset image': 'data.Id' },
    to: ['getAsset', 'createGenericVideo', 'createVideo', 'createOfficialVideo'],
  },
  {
    variable: 'genericVideoId',
    example: task,
    from: { createGenericVideo: 'task_id' },
    to: ['getGenericVideo'],
  },
  {
    variable: 'videoId',
    example: task,
    from: { createVideo: 'id' },
    to: ['getVideo', 'downloadVideoContent', 'deleteVideo'],
  },
  {
    variable: 'nativeTaskId',
    example: task,
    from: { createNativeVideo: 'output.task_id', createModel3d: 'output.task_id' },
    to: ['getNativeTask', 'cancelNativeTask', 'getMyTask', 'getTask'],
  },
  {
    variable: 'officialVideoId',
    example: task,
    from: { createOfficialVideo: 'id' },
    to: ['getOfficialVideo', 'deleteOfficialVideo'],
  },
  {
    variable: 'musicTaskId',
    example: '3f1c2a9be08d47a1',
    from: { submitMusic: 'data', createMusic: 'data.task_id' },
    to: ['fetchMusicTask', 'fetchMusicTasks', 'getMusic'],
  },
  {
    variable: 'clipId',
    example: clip,
    from: { fetchMusicTask: 'data.data.0.clip_id' },
    to: ['getClip', 'getClipWav', 'getClipTiming', 'submitMusic'],
  },
  {
    variable: 'imageJobId',
    example: task,
    from: { submitImagine: 'result' },
    to: ['fetchImageJob', 'submitImageAction'],
  },
  {
    variable: 'endpointId',
    example: '3',
    from: { createEndpoint: 'data.id' },
    to: [
      'getEndpoint',
      'updateEndpoint',
      'rotateEndpointSecret',
      'testEndpoint',
      'listEndpointDeliveries',
      'deleteEndpoint',
    ],
  },
  {
    variable: 'operatorEndpointId',
    example: '3',
    from: { createOperatorEndpoint: 'data.id' },
    to: [
      'getOperatorEndpoint',
      'updateOperatorEndpoint',
      'rotateOperatorEndpointSecret',
      'testOperatorEndpoint',
      'listOperatorEndpointDeliveries',
      'deleteOperatorEndpoint',
    ],
  },
  { variable: 'tokenId', example: '7', from: { createToken: 'data.id' }, to: ['deleteToken'] },
  {
    variable: 'verificationSessionId',
    example: 'vs_5c6d7e8f9a0b',
    from: { createVerificationSession: 'data.session_id' },
    to: ['getVerificationSession'],
  },
  {
    variable: 'userId',
    example: '2',
    from: { createUser: 'data.id' },
    to: [
      'getUser',
      'updateUser',
      'createUserToken',
      'listUserStatements',
      'getUserStatement',
      'listUserMembers',
      'createUserMember',
      'updateUserMember',
      'deleteUserMember',
      'openWallet',
      'getWallet',
      'grantToWallet',
      'listWalletGrants',
    ],
  },
  {
    variable: 'memberId',
    example: '3',
    from: { createMyMember: 'data.id' },
    to: ['updateMyMember', 'deleteMyMember'],
  },
  {
    variable: 'accountId',
    example: '5',
    from: { createMyAccount: 'data.id' },
    to: [
      'updateMyAccount',
      'listMyAccountTokens',
      'createMyAccountToken',
      'updateMyAccountToken',
      'deleteMyAccountToken',
    ],
  },
  {
    variable: 'accountTokenId',
    example: '7',
    from: { createMyAccountToken: 'data.id' },
    to: ['updateMyAccountToken', 'deleteMyAccountToken'],
  },
  {
    variable: 'userMemberId',
    example: '3',
    from: { createUserMember: 'data.id' },
    to: ['updateUserMember', 'deleteUserMember'],
  },
  {
    variable: 'userTokenId',
    example: '7',
    from: { createUserToken: 'data.id' },
    to: ['updateToken', 'grantQuota', 'revokeToken'],
  },
];

/** Operations that report a task: path of its state, and the states in which it is unfinished. */
const polled: Readonly<Record<string, { at: string; states: readonly string[] }>> = {
  getGenericVideo: { at: 'status', states: ['queued', 'in_progress'] },
  getVideo: { at: 'status', states: ['queued', 'in_progress'] },
  getNativeTask: { at: 'output.task_status', states: ['PENDING', 'RUNNING'] },
  getOfficialVideo: { at: 'status', states: ['queued', 'running'] },
  fetchMusicTask: { at: 'data.status', states: ['NOT_START', 'SUBMITTED', 'QUEUED', 'IN_PROGRESS'] },
  fetchImageJob: { at: 'status', states: ['', 'NOT_START', 'SUBMITTED', 'MODAL', 'IN_PROGRESS'] },
};

/**
 * Requests that succeed only after an edit, as operationId or as operationId and example: they need a file, a channel or a
 * state of the user's own. They may also return a documented error.
 */
const needsEdit = new Set([
  // The user of the key needs a wallet.
  'createMyAccount',
  'updateMyAccount',
  'listMyAccountTokens',
  'createMyAccountToken',
  'updateMyAccountToken',
  'deleteMyAccountToken',
  // The gateway must accept user assertions.
  'createSession',
  'customizeVoice clone',
  'customizeVoice update',
  'customizeVoice alpha_clone',
  'customizeVoice alpha_delete',
  'createGenericVideo seedance_references',
  'createVideo seedance_references',
  'createOfficialVideo references',
  'cancelNativeTask',
  'getMyStatement',
  'getUserStatement',
  'submitMusic continuation',
  'submitMusic stems',
  'submitImagine reference',
  'submitImageModal',
  'submitImageAction',
  'testChannel',
  'enableChannel',
  'disableChannel',
  'cancelTask',
  'settleTask',
  'resendDelivery',
  'createBudget',
  'updateBudget',
  'deleteBudget',
  'updateUserMember',
  'deleteUserMember',
  'getWallet',
  'resendEndpointDelivery',
  'resendOperatorEndpointDelivery',
  'testEndpoint',
  'testOperatorEndpoint',
  'explainCharge',
  'refundCall',
  'getFile',
]);

/** Whether a request of the operation returns the id. */
const returnsId = (from: Chain['from'], operation: string): boolean =>
  Object.keys(from).some((key) => key.split(' ')[0] === operation);

/** The variable that replaces a path parameter. Undefined without one. */
export const variableOf = (operation: string): string | undefined =>
  chains.find(({ to, from }) => to.includes(operation) && !returnsId(from, operation))?.variable;

/** Replaces the example ids in the JSON body of an operation by variables. */
export const withVariables = (operation: string, body: string): string =>
  chains
    .filter(({ to }) => to.includes(operation))
    .reduce((text, { example, variable }) => text.replaceAll(example, `{{${variable}}}`), body);

/** Order of the requests of a folder: those that create, read and use, and those that delete. */
export function stepOf({ id, method }: Operation): number {
  if (method === 'delete') return 3;
  if (!(id in polled) && chains.some(({ from }) => returnsId(from, id))) return 0;
  return id in polled ? 1 : 2;
}

/** Order of the folders: a folder follows those whose ids it needs. */
export const folderOrder = (tag: string): number => (tag === 'assets' ? 0 : 1);

/** The script that checks the response to a request, stores its ids, and repeats the request while a task is unfinished. */
export function testScript(
  openapi: JsonObject,
  { id, node }: Operation,
  example: string | undefined,
): string[] {
  const responses = objects(node.responses);
  const documented = responses.map(([status]) => Number(status));
  const success = documented.filter((status) => status < 400);
  const isOptional = needsEdit.has(id) || needsEdit.has(`${id} ${example}`);
  const [, reply] = responses.find(([status]) => Number(status) < 400) ?? [];
  const content = deref(openapi, deref(openapi, reply).content);
  const lines = [
    `pm.test('The status is documented', () => pm.expect(pm.response.code).to.be.oneOf(${JSON.stringify(isOptional ? documented : success)}));`,
    "pm.test('The response has a request id', () => pm.expect(pm.response.headers.get('x-request-id')).to.be.a('string'));",
    `if (!${JSON.stringify(success)}.includes(pm.response.code)) return;`,
  ];
  const { schema } = deref(openapi, content['application/json']);
  if (Object.keys(content).join() !== 'application/json') return lines;
  lines.push('const reply = pm.response.json();');
  const required = requiredOf(openapi, schema);
  if (required.length > 0)
    lines.push(
      `pm.test('The response has all required fields', () => pm.expect(reply).to.include.all.keys(${JSON.stringify(required)}));`,
    );
  for (const { variable, from } of chains) {
    const path = from[`${id} ${example}`] ?? from[id];
    if (path === undefined) continue;
    lines.push(`const ${variable} = ${access(path)};`);
    lines.push(
      `if (${variable} !== undefined) pm.collectionVariables.set('${variable}', String(${variable}));`,
    );
  }
  const poll = polled[id];
  if (poll !== undefined) {
    lines.push(`if (${JSON.stringify(poll.states)}.includes(${access(poll.at)})) {`);
    lines.push('  pm.execution.setNextRequest(pm.info.requestId);');
    lines.push('  setTimeout(() => {}, 1000);');
    lines.push('}');
  }
  return lines;
}

/** Required fields of a schema and of the parts of its `allOf`. */
function requiredOf(openapi: JsonObject, schema: Json | undefined): string[] {
  const { required, allOf } = deref(openapi, schema);
  const parts = Array.isArray(allOf) ? allOf.filter(isObject) : [];
  return [...new Set([...strings(required), ...parts.flatMap((part) => requiredOf(openapi, part))])];
}

/** `data.0.id` as an expression. */
const access = (path: string) =>
  `reply${path
    .split('.')
    .map((key) => `?.[${/^\d+$/.test(key) ? key : `'${key}'`}]`)
    .join('')}`;
