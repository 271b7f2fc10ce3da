import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { APIError, Unigate } from '../../client/index.ts';
import { type OperationFacts, type OperationId, operations } from '../../generated/operations.ts';
import { startStubServer } from './stub-server.ts';

type Use = (client: Unigate) => unknown;

const video = { model: 'm', prompt: 'p' };
const spoken = { model: 'm', voice: 'v', input: 'Hi.' };
const native = { model: 'm', input: { text: 'Hi.', voice: 'v' } } as const;
const chat = { model: 'm', max_tokens: 1, messages: [] };

/** The client method for each operation. */
const methods: Partial<Record<OperationId, Use>> = {
  createSpeech: (client) => client.speech.create(spoken),
  synthesizeSpeech: (client) => client.speech.synthesize(native),
  generateMultimodalSpeech: (client) => client.speech.multimodal(native),
  customizeVoice: (client) => client.voices.delete('v'),
  openRealtimeSocket: (client) => client.realtime('m'),
  openInferenceSocket: (client) => client.inference('m'),
  createGenericVideo: (client) => client.videoGenerations.create(video),
  getGenericVideo: (client) => client.videoGenerations.retrieve('task_1'),
  createVideo: (client) => client.videos.create(video),
  listVideos: (client) => client.videos.list(),
  getVideo: (client) => client.videos.retrieve('task_1'),
  deleteVideo: (client) => client.videos.delete('task_1'),
  downloadVideoContent: (client) => client.videos.download('task_1'),
  createNativeVideo: (client) => client.nativeVideos.create({ model: 'm', input: { prompt: 'p' } }),
  getNativeTask: (client) => client.nativeVideos.retrieve('task_1'),
  cancelNativeTask: (client) => client.models3d.cancel('task_1'),
  createModel3d: (client) => client.models3d.create({ model: 'm', input: { prompt: 'p' } }),
  createOfficialVideo: (client) => client.officialVideos.create({ model: 'm', content: [] }),
  listOfficialVideos: (client) => client.officialVideos.list(),
  getOfficialVideo: (client) => client.officialVideos.retrieve('task_1'),
  deleteOfficialVideo: (client) => client.officialVideos.delete('task_1'),
  uploadAsset: (client) => client.assets.upload({ url: 'https://files.example/a.png', asset_type: 'Image' }),
  getAsset: (client) => client.assets.retrieve('asset-1'),
  submitMusic: (client) => client.music.create({ prompt: 'p' }),
  submitLyrics: (client) => client.lyrics.create({ prompt: 'p' }),
  fetchMusicTask: (client) => client.music.retrieve('task_1'),
  fetchMusicTasks: (client) => client.music.retrieveMany(['task_1']),
  getClip: (client) => client.music.songs('clip'),
  getClipWav: (client) => client.music.urlOf('clip', { variant: 'wav' }),
  getClipTiming: (client) => client.music.timing('clip'),
  createMusic: (client) => client.music.createFormatA({ input: {} }),
  getMusic: (client) => client.music.retrieveFormatA('task_1'),
  submitImagine: (client) => client.imageJobs.create({ prompt: 'p' }),
  submitImageAction: (client) => client.imageJobs.action({ taskId: 'task_1', customId: 'c' }),
  submitImageModal: (client) => client.imageJobs.modal({ taskId: 'task_1' }),
  fetchImageJob: (client) => client.imageJobs.retrieve('task_1'),
  listImageJobs: (client) => client.imageJobs.retrieveMany(['task_1']),
  createEmbedding: (client) => client.embeddings.create({ model: 'm', input: 'Hi.' }),
  createMessage: (client) => client.messages.create(chat),
  countMessageTokens: (client) => client.messages.countTokens(chat),
  createToken: (client) => client.tokens.create({ name: 'n' }),
  listTokens: (client) => client.tokens.list(),
  deleteToken: (client) => client.tokens.delete(1),
  createSession: (client) => client.tokens.createSession({ assertion: 'a.b.c' }),
  searchLogs: (client) => client.logs.search(),
  listCallbacks: (client) => client.callbacks.list(),
  getMe: (client) => client.me.retrieve(),
  listMyTasks: (client) => client.me.tasks.list(),
  getMyTask: (client) => client.me.tasks.retrieve('task_1'),
  getMyUsage: (client) => client.me.usage(),
  listMyLog: (client) => client.me.log.list(),
  listMyPrices: (client) => client.me.prices(),
  listMyMembers: (client) => client.me.members.list(),
  createMyMember: (client) => client.me.members.create({ name: 'Ada', role: 'billing' }),
  updateMyMember: (client) => client.me.members.update(3, {}),
  deleteMyMember: (client) => client.me.members.delete(3),
  listUserMembers: (client) => client.admin.users.members.list(1),
  createUserMember: (client) => client.admin.users.members.create(1, { name: 'Ada', role: 'billing' }),
  updateUserMember: (client) => client.admin.users.members.update(1, 3, {}),
  deleteUserMember: (client) => client.admin.users.members.delete(1, 3),
  getMyStatement: (client) => client.me.statements.retrieve('2026-11'),
  listMyStatements: (client) => client.me.statements.list(),
  listMyBudgets: (client) => client.me.budgets(),
  listEndpoints: (client) => client.me.endpoints.list(),
  createEndpoint: (client) => client.me.endpoints.create({ url: 'https://app.example/', events: [] }),
  getEndpoint: (client) => client.me.endpoints.retrieve(1),
  updateEndpoint: (client) => client.me.endpoints.update(1, { disabled: true }),
  deleteEndpoint: (client) => client.me.endpoints.delete(1),
  rotateEndpointSecret: (client) => client.me.endpoints.rotateSecret(1),
  testEndpoint: (client) => client.me.endpoints.test(1),
  listEndpointDeliveries: (client) => client.me.endpoints.deliveries(1),
  resendEndpointDelivery: (client) => client.me.endpoints.resend(1, 2),
  listMyAccounts: (client) => client.me.accounts.list(),
  createMyAccount: (client) => client.me.accounts.create({ name: 'Paris office' }),
  updateMyAccount: (client) => client.me.accounts.update(5, {}),
  createMyAccountToken: (client) => client.me.accounts.createToken(5, { name: 'web', remain_quota: 1 }),
  listMyAccountTokens: (client) => client.me.accounts.listTokens(5),
  updateMyAccountToken: (client) => client.me.accounts.updateToken(5, 7, { status: 2 }),
  deleteMyAccountToken: (client) => client.me.accounts.deleteToken(5, 7),
  createVerificationSession: (client) => client.verification.create(),
  getVerificationSession: (client) => client.verification.retrieve('vs_1'),
  listModels: (client) => client.models.list(),
  getModel: (client) => client.models.retrieve('m'),
  listUsers: (client) => client.admin.users.list(),
  createUser: (client) => client.admin.users.create({ name: 'n' }),
  getUser: (client) => client.admin.users.retrieve(1),
  updateUser: (client) => client.admin.users.update(1, { name: 'n' }),
  listGroups: (client) => client.admin.groups.list(),
  searchTokens: (client) => client.admin.tokens.list(),
  createUserToken: (client) => client.admin.tokens.create(1, { name: 'n' }),
  updateToken: (client) => client.admin.tokens.update(1, { name: 'n' }),
  grantQuota: (client) => client.admin.tokens.grant(1, { amount: 1, reason: 'r' }),
  revokeToken: (client) => client.admin.tokens.revoke(1),
  searchTasks: (client) => client.admin.tasks.list(),
  getTask: (client) => client.admin.tasks.retrieve('task_1'),
  cancelTask: (client) => client.admin.tasks.cancel('task_1'),
  settleTask: (client) => client.admin.tasks.settle('task_1', { outcome: 'failed', reason: 'r' }),
  searchDeliveries: (client) => client.admin.deliveries.list(),
  resendDelivery: (client) => client.admin.deliveries.resend(1),
  listBudgets: (client) => client.admin.budgets.list(),
  createBudget: (client) => client.admin.budgets.create({ user_id: 1, amount: 1, period: 'daily' }),
  updateBudget: (client) => client.admin.budgets.update(1, { amount: 1 }),
  deleteBudget: (client) => client.admin.budgets.delete(1),
  listOperatorEndpoints: (client) => client.admin.endpoints.list(),
  createOperatorEndpoint: (client) =>
    client.admin.endpoints.create({ url: 'https://app.example/', events: [] }),
  getOperatorEndpoint: (client) => client.admin.endpoints.retrieve(1),
  updateOperatorEndpoint: (client) => client.admin.endpoints.update(1, { disabled: true }),
  deleteOperatorEndpoint: (client) => client.admin.endpoints.delete(1),
  rotateOperatorEndpointSecret: (client) => client.admin.endpoints.rotateSecret(1),
  testOperatorEndpoint: (client) => client.admin.endpoints.test(1),
  listOperatorEndpointDeliveries: (client) => client.admin.endpoints.deliveries(1),
  resendOperatorEndpointDelivery: (client) => client.admin.endpoints.resend(1, 2),
  auditBooks: (client) => client.admin.audit(),
  explainCharge: (client) => client.admin.charges.explain('req_1'),
  refundCall: (client) => client.admin.charges.refund('req_1', { reason: 'r' }),
  exportLogs: (client) => client.admin.logs.export(),
  showFigures: (client) => client.admin.figures(),
  listChannels: (client) => client.admin.channels.list(),
  testChannel: (client) => client.admin.channels.test('c'),
  enableChannel: (client) => client.admin.channels.enable('c'),
  disableChannel: (client) => client.admin.channels.disable('c', 'r'),
  releaseGateway: (client) => client.admin.release(),
  reloadConfiguration: (client) => client.admin.reload(),
  listChanges: (client) => client.admin.changes.list(),
  getUserStatement: (client) => client.admin.users.statements.retrieve(1, '2026-11'),
  listUserStatements: (client) => client.admin.users.statements.list(1),
  testConformance: (client) => client.admin.testConformance({})[Symbol.asyncIterator]().next(),
  getWallet: (client) => client.admin.users.wallets.retrieve(1),
  openWallet: (client) => client.admin.users.wallets.open(1),
  grantToWallet: (client) => client.admin.users.wallets.grant(1, { amount: 1, reference: 'p', reason: 'r' }),
  listWalletGrants: (client) => client.admin.users.wallets.listGrants(1),
  auditPrices: (client) => client.admin.prices.check(),
  explainPrice: (client) => client.admin.prices.explain({ body: {} }),
  getFile: (client) => client.openAddress(`${client.baseUrl}/v1/files/token/video.mp4`),
  getHealth: (client) => client.service.health(),
  getReadiness: (client) => client.service.readiness(),
  getOpenApiDocument: (client) => client.service.openApiDocument(),
  getAsyncApiDocument: (client) => client.service.asyncApiDocument(),
};

/** Pages for browsers. */
const forPeople = ['getHomePage', 'getDocs', 'getDocsFile', 'getConsole', 'getConsoleFile'];

const all: [string, OperationFacts][] = Object.entries(operations).filter(([id]) => !forPeople.includes(id));

/** Returns a path or a path template with unnamed parameters. */
const shape = (path: string) => path.split('/').map((part) => (part.startsWith('{') ? '{}' : part));

let sent: { method: string; path: string }[];
let url: string;
beforeEach(async () => {
  sent = [];
  url = await startStubServer(({ method = '', url: address = '' }, response) => {
    sent.push({ method, path: address.replace(/\?.*/, '') });
    response.writeHead(400, { 'content-type': 'application/json' }).end('{}');
  });
});

test('every operation of the contract has a method', () => {
  expect(Object.keys(methods).toSorted()).toEqual(all.map(([id]) => id).toSorted());
});

test.each(Object.entries(methods))('%s is sent by its method', async (id, use) => {
  await expect((async () => use(new Unigate({ baseUrl: url, apiKey: 'k' })))()).rejects.toThrow(APIError);
  const { method, path } = operations[id as OperationId];
  const template = shape(path);
  const parts = sent[0]?.path.split('/').map((part, index) => (template[index] === '{}' ? '{}' : part));
  expect({ method: sent[0]?.method.toLowerCase(), parts }).toEqual({ method, parts: template });
});

test.each(all)('%s is in the README with its path', async (_, { method, path }) => {
  const readme = await readFile(join(import.meta.dirname, '../../client/README.md'), 'utf8');
  expect(readme).toContain(`| \`${method.toUpperCase()} ${path}\` | \`client.`);
});
