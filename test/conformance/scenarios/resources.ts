import type { OperationId } from '../../../generated/operations.ts';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import type { RunContext } from '../context/run-context.ts';
import { idOfTask, type TaskName, taskKinds } from '../context/task-kinds.ts';
import { Unavailable } from '../context/unavailable.ts';
import type { Variation } from '../wire/exchange.ts';
import { jsonOf } from '../wire/http-response.ts';
import type { Scenario } from './scenario.ts';

const limitedKey = (variation: Variation): Scenario => ({
  name: '403 a key with limits',
  status: 403,
  as: 'noQuota',
  variation,
});

/** A callback endpoint of the run, and a key that must not use it. */
const endpointScenarios = ({ fixtures }: RunContext, variation: Variation = {}): Scenario[] => [
  limitedKey({ ...variation, path: { id: '1' } }),
  {
    name: '200 an endpoint of the run',
    status: 200,
    variation: async () => ({ ...variation, path: { id: await fixtures.endpoint('user') } }),
  },
];

/** A customer of the run with a sub-account, and a key that must not manage it. An admin creates the customer. */
const accountScenarios = (
  { fixtures, target, isAdmin }: RunContext,
  { path }: Pick<Variation, 'path'>,
): Scenario[] => [
  limitedKey(path === undefined ? {} : { path }),
  {
    name: '200 a customer of the run',
    status: 200,
    as: async () => ({ ...target, key: (await fixtures.customer()).key }),
    variation: async () => {
      if (!isAdmin) throw new Unavailable('the key is not an admin key');
      const { account_id } = await fixtures.customer();
      return path === undefined ? {} : { path: { account_id } };
    },
  },
];

/** A new key of that sub-account. */
const accountTokenScenarios = (context: RunContext): Scenario[] => {
  const { fixtures, target, isAdmin } = context;
  const asCustomer = async () => ({ ...target, key: (await fixtures.customer()).key });
  const pathOf = async (id?: string) => {
    if (!isAdmin) throw new Unavailable('the key is not an admin key');
    const { account_id } = await fixtures.customer();
    return { path: { account_id, id: id ?? (await fixtures.accountToken()) } };
  };
  return [
    limitedKey({ path: { account_id: '1', id: '1' } }),
    { name: '200 a key of the run', status: 200, as: asCustomer, variation: () => pathOf() },
    { name: '404 an unknown key', status: 404, as: asCustomer, variation: () => pathOf('999999999') },
  ];
};

/** Polls a task of each kind until it ends. */
const pollScenarios =
  (...names: TaskName[]) =>
  ({ fixtures }: RunContext): Scenario[] =>
    names.map((name) => ({
      name: `200 ${name === 'image' ? 'an image job' : `a ${name} task`} whose states move only forward`,
      status: 200,
      variation: async () => ({ path: { [taskKinds[name].param]: (await fixtures.task(name)).id } }),
      verify: async () => (await fixtures.task(name)).problems,
    }));

const finishedTaskScenario =
  (name: TaskName, status: number, title: string) =>
  ({ fixtures }: RunContext): Scenario[] => [
    {
      name: title,
      status,
      variation: async () => ({ path: { [taskKinds[name].param]: await fixtures.finishedTask(name) } }),
    },
  ];

/** A finished song, and one in progress. */
const songScenarios = ({ fixtures, tasks, triggers }: RunContext): Scenario[] => [
  {
    name: '200 a finished song',
    status: 200,
    variation: async () => ({ path: { clip_id: await fixtures.song() } }),
  },
  {
    name: '409 a song in progress',
    status: 409,
    expected: { code: 'resource_not_ready', field: 'clip_id' },
    variation: async () => {
      if (!triggers) throw new Unavailable('only a trigger creates a task that never ends');
      const id = await fixtures.startTask('music', { prompt: 'The sea. [[never]]' });
      const { body } = await tasks.watch(taskKinds.music, id, ['IN_PROGRESS']);
      const [song] = (body as { data: { data?: { id?: string }[] } }).data.data ?? [];
      return { path: { clip_id: song?.id ?? '' } };
    },
  },
];

/** Continuations of songs that cannot be continued. `body` adapts the fields to the route. */
const continuationScenarios =
  (body: (more: JsonObject) => JsonObject) =>
  ({ fixtures, triggers }: RunContext): Scenario[] => [
    {
      name: '409 a continuation of an incomplete song',
      status: 409,
      expected: { code: 'resource_not_ready' },
      variation: async () => {
        if (!triggers) throw new Unavailable('only a trigger creates a task that never ends');
        const id = await fixtures.startTask('music', { prompt: 'The sea. [[never]]' });
        return { body: body({ prompt: 'And on it goes', continue_clip_id: id, continue_at: 1 }) };
      },
    },
    {
      name: '404 a continuation of an unknown song',
      status: 404,
      expected: { field: 'continue_clip_id' },
      variation: {
        body: body({
          prompt: 'And on it goes',
          continue_clip_id: '00000000-0000-4000-8000-000000000000',
          continue_at: 1,
        }),
      },
    },
  ];

/** Tasks that fail with an error. */
const failedTaskScenarios = ({ fixtures, tasks, triggers }: RunContext): Scenario[] =>
  (
    [
      ['fails at its end', '[[fail-late]]', 'video'],
      ['expires', '[[expire]]', 'thumbnailed'],
    ] as const
  ).map(([how, word, name]) => ({
    name: `200 a task that ${how}`,
    status: 200,
    variation: async () => {
      if (!triggers) throw new Unavailable('only a trigger creates a task that fails');
      const id = await fixtures.startTask(name, { prompt: `The sea. ${word}` });
      await tasks.watch(taskKinds.video, id);
      return { path: { task_id: id } };
    },
    verify: (response) => {
      const { status, error } = jsonOf(response) as { status: string; error: unknown };
      return status === 'failed' && error !== null
        ? []
        : [`status is ${status}, error is ${JSON.stringify(error)}`];
    },
  }));

/** A request, its repeat with the same idempotency key, and another request with that key. */
function idempotencyScenarios(words: string, body: (words: string) => JsonObject): Scenario[] {
  const headers = { 'Idempotency-Key': crypto.randomUUID() };
  let created: string | undefined;
  return [
    {
      name: '200 a new idempotency key',
      status: 200,
      variation: { body: body(words), headers },
      verify: (response) => {
        created = idOfTask(jsonOf(response));
        return [];
      },
    },
    {
      name: '200 the same request with the same idempotency key',
      status: 200,
      variation: { body: body(words), headers },
      verify: (response) => {
        const id = idOfTask(jsonOf(response));
        return created === undefined || id === created
          ? []
          : [`idempotency: a repeat of the request that created ${created} created ${id}`];
      },
    },
    {
      name: '400 another request with the same idempotency key',
      status: 400,
      expected: { code: 'idempotency_key_reused' },
      variation: { body: body(`${words} again`), headers },
    },
  ];
}

const statementTypes = { json: 'application/json', csv: 'text/csv', html: 'text/html' } as const;

/** The statement of the current month in each format. */
export const statementScenarios = (userId?: string): Scenario[] => {
  const path = { month: new Date().toISOString().slice(0, 7), ...(userId !== undefined && { id: userId }) };
  return Object.entries(statementTypes).map(([format, mediaType]) => ({
    name: `200 ${format}`,
    status: 200,
    mediaType,
    variation: { path, query: { format } },
  }));
};

const pageScenarios = (): Scenario[] => [
  { name: '200 a list', status: 200 },
  { name: '200 a short page', status: 200, variation: { query: { limit: 1 } }, verify: atMostOne },
];

/** Operations on a resource that must exist first. */
export const resourceScenarios: Partial<Record<OperationId, (context: RunContext) => Scenario[]>> = {
  getVideo: (context) => [...pollScenarios('video')(context), ...failedTaskScenarios(context)],
  getGenericVideo: pollScenarios('generic', 'family'),
  getNativeTask: pollScenarios('native', 'model3d'),
  getOfficialVideo: pollScenarios('official'),
  fetchMusicTask: pollScenarios('music', 'lyrics'),
  fetchImageJob: pollScenarios('image'),
  listVideos: pageScenarios,
  listOfficialVideos: () => [
    { name: '200 a list', status: 200 },
    { name: '200 a short page', status: 200, variation: { query: { page_size: 1 } }, verify: atMostOne },
  ],
  getMusic: finishedTaskScenario('music', 200, '200 a finished music task'),
  fetchMusicTasks: ({ fixtures }) => [
    {
      name: '200 several tasks',
      status: 200,
      variation: async () => ({ body: { ids: [await fixtures.finishedTask('lyrics')] } }),
    },
  ],
  listImageJobs: ({ fixtures }) => [
    {
      name: '200 several jobs',
      status: 200,
      variation: async () => ({ body: { ids: [await fixtures.finishedTask('image')] } }),
    },
  ],
  getClip: ({ fixtures }) => [
    {
      name: '200 a song',
      status: 200,
      variation: async () => ({ path: { clip_id: await fixtures.song() } }),
    },
  ],
  getClipWav: songScenarios,
  getClipTiming: songScenarios,
  createMusic: continuationScenarios((input) => ({ custom_mode: true, input })),
  submitImageAction: ({ fixtures }) => [
    {
      name: '200 a button of an image',
      status: 200,
      variation: async () => {
        const { id, buttons } = await fixtures.image();
        return { body: { taskId: id, customId: buttons[0]?.customId ?? '' } };
      },
    },
    {
      name: '404 an image that another key created',
      status: 404,
      as: 'noQuota',
      variation: async () => {
        const { id, buttons } = await fixtures.image();
        return { body: { taskId: id, customId: buttons[0]?.customId ?? '' } };
      },
    },
  ],
  submitImageModal: ({ fixtures }) => [
    {
      name: '200 a job that waits for modal input',
      status: 200,
      variation: async () => ({
        body: { taskId: await fixtures.modalJob(), prompt: 'a lighthouse', maskBase64: mask },
      }),
    },
  ],
  getModel: ({ fixtures }) => [
    {
      name: '200 a model of the list',
      status: 200,
      variation: async () => ({ path: { model: await fixtures.model() } }),
    },
  ],
  getAsset: ({ fixtures }) => [
    { name: '200 an asset', status: 200, variation: async () => ({ path: { id: await fixtures.asset() } }) },
  ],
  getVerificationSession: ({ fixtures }) => [
    {
      name: '200 a session',
      status: 200,
      variation: async () => ({ path: { session_id: await fixtures.session() } }),
    },
  ],
  deleteVideo: ({ fixtures, tasks }) => [
    {
      name: '200 a task that has ended',
      status: 200,
      variation: async () => ({
        path: { task_id: (await tasks.watch(taskKinds.video, await fixtures.startTask('video'))).id },
      }),
    },
  ],
  downloadVideoContent: ({ fixtures, triggers }) => [
    {
      name: '400 the file of a task that has not ended',
      status: 400,
      expected: { code: 'task_not_completed' },
      variation: async () => {
        if (!triggers) throw new Unavailable('only a trigger creates a task that never ends');
        return { path: { task_id: await fixtures.startTask('video', { prompt: 'The sea. [[never]]' }) } };
      },
    },
  ],
  submitLyrics: () => idempotencyScenarios('The sea', (prompt) => ({ prompt })),
  submitMusic: (context) => [
    ...continuationScenarios((more) => ({ custom_mode: 1, ...more }))(context),
    ...idempotencyScenarios('A slow song', (prompt) => ({ prompt })),
  ],
  submitImagine: () => idempotencyScenarios('a harbour', (prompt) => ({ prompt })),
  createVideo: () => idempotencyScenarios('The sea', (prompt) => ({ ...taskKinds.video.body, prompt })),
  createGenericVideo: () =>
    idempotencyScenarios('The sea', (prompt) => ({ ...taskKinds.generic.body, prompt })),
  createOfficialVideo: () =>
    idempotencyScenarios('The sea', (text) => ({
      ...taskKinds.official.body,
      content: [{ type: 'text', text }],
    })),
  createModel3d: () =>
    idempotencyScenarios('A horse', (prompt) => ({ ...taskKinds.model3d.body, input: { prompt } })),
  createNativeVideo: () => [
    ...idempotencyScenarios('The sea', (prompt) => ({
      model: 'gamma3.0-video-prime',
      input: { prompt },
      parameters: { resolution: '480P', duration: 2 },
    })),
    {
      name: '400 media that cannot be combined',
      status: 400,
      expected: { code: 'invalid_media_combination' },
      variation: {
        body: {
          model: 'gamma3.0-video',
          input: {
            prompt: 'The sea.',
            media: ['first_frame', 'reference_image'].map((type) => ({
              type,
              url: 'https://files.example/a.png',
            })),
          },
        },
      },
    },
  ],
  cancelNativeTask: ({ fixtures, triggers }) => [
    {
      name: '400 a task that has ended',
      status: 400,
      expected: { code: 'UnsupportedOperation' },
      variation: async () => ({ path: { task_id: await fixtures.finishedTask('native') } }),
    },
    {
      name: '200 a waiting task',
      status: [200, 400],
      variation: async () => ({ path: { task_id: await fixtures.startCancelableTask('native', triggers) } }),
    },
  ],
  deleteOfficialVideo: ({ fixtures, triggers }) => [
    {
      name: '204 a waiting task',
      status: [204, 400],
      variation: async () => ({
        path: { task_id: await fixtures.startCancelableTask('official', triggers) },
      }),
    },
  ],
  deleteToken: ({ fixtures }) => [
    {
      name: '404 a limited key deletes a key that it did not create',
      status: 404,
      as: 'noQuota',
      variation: async () => ({ path: { id: await fixtures.token() } }),
      expected: { field: 'id' },
    },
    {
      name: '200 a key of the run',
      status: 200,
      variation: async () => ({ path: { id: await fixtures.token() } }),
    },
  ],
  listEndpoints: () => [limitedKey({}), { name: '200 the endpoints', status: 200 }],
  createEndpoint: () => [limitedKey({ example: 'endpoint' })],
  getEndpoint: endpointScenarios,
  updateEndpoint: (context) => endpointScenarios(context, { example: 'disabled' }),
  deleteEndpoint: endpointScenarios,
  rotateEndpointSecret: endpointScenarios,
  testEndpoint: endpointScenarios,
  listEndpointDeliveries: endpointScenarios,
  resendEndpointDelivery: ({ fixtures }) => [
    limitedKey({ path: { id: '1', delivery_id: '1' } }),
    {
      name: '200 a test event of the run',
      status: 200,
      variation: async () => ({ path: await fixtures.eventDelivery('user') }),
    },
  ],
  createToken: () => [
    {
      name: '403 a limited key creates an unlimited key',
      status: 403,
      as: 'noQuota',
      variation: { body: { name: 'conformance', unlimited_quota: true } },
    },
  ],
  listMyTasks: () => [
    { name: '200 a list', status: 200 },
    { name: '200 a short page', status: 200, variation: { query: { page_size: 1 } }, verify: atMostOne },
  ],
  listMyLog: (): Scenario[] => [
    { name: '200 a list', status: 200, mediaType: 'application/json' },
    { name: '200 a short page', status: 200, variation: { query: { page_size: 1 } }, verify: atMostOne },
    {
      name: '200 CSV',
      status: 200,
      mediaType: 'text/csv',
      variation: { query: { since: Math.floor(Date.now() / 1000) - 1, format: 'csv' } },
    },
  ],
  listMyAccounts: () => [limitedKey({}), { name: '200 a list', status: 200 }],
  createMyAccount: (context) => accountScenarios(context, {}),
  updateMyAccount: (context) => [
    ...accountScenarios(context, { path: { account_id: '1' } }),
    { name: '404 an unknown sub-account', status: 404, variation: { path: { account_id: '999999999' } } },
  ],
  createMyAccountToken: (context) => [
    ...accountScenarios(context, { path: { account_id: '1' } }),
    { name: '404 an unknown sub-account', status: 404, variation: { path: { account_id: '999999999' } } },
  ],
  listMyAccountTokens: (context) => [
    ...accountScenarios(context, { path: { account_id: '1' } }),
    { name: '404 an unknown sub-account', status: 404, variation: { path: { account_id: '999999999' } } },
  ],
  updateMyAccountToken: (context) => accountTokenScenarios(context),
  deleteMyAccountToken: (context) => accountTokenScenarios(context),
  listMyMembers: () => [limitedKey({}), { name: '200 a list', status: 200 }],
  updateMyMember: ({ fixtures }) => [
    {
      name: '200 a member of the run',
      status: 200,
      variation: async () => ({ path: { member_id: await fixtures.member() } }),
    },
  ],
  deleteMyMember: ({ fixtures }) => [
    limitedKey({ path: { member_id: '1' } }),
    {
      name: '200 a member of the run',
      status: 200,
      variation: async () => ({ path: { member_id: await fixtures.newMember() } }),
    },
  ],
  listMyStatements: () => [
    limitedKey({}),
    { name: '200 the months', status: 200 },
    { name: '404 an unknown sub-account', status: 404, variation: { query: { account_id: 999_999_999 } } },
  ],
  getMyStatement: () => statementScenarios(),
  getMyTask: ({ fixtures }) => [
    {
      name: '200 a finished task',
      status: 200,
      variation: async () => ({ path: { id: await fixtures.finishedTask('native') } }),
    },
    {
      name: '404 a task of another key',
      status: 404,
      as: 'noQuota',
      variation: async () => ({ path: { id: await fixtures.finishedTask('native') } }),
      expected: { field: 'id' },
    },
  ],
  listTokens: () => [
    { name: '200 a list', status: 200 },
    { name: '200 a short page', status: 200, variation: { query: { page_size: 1 } }, verify: atMostOne },
  ],
  searchLogs: () => [
    { name: '200 a list', status: 200 },
    { name: '200 a short page', status: 200, variation: { query: { page_size: 1 } }, verify: atMostOne },
  ],
};

/** Checks that a page of size one has at most one entry. */
function atMostOne(response: Parameters<typeof jsonOf>[0]): string[] {
  const { data, items } = jsonOf(response) as { data?: unknown[] | { items?: unknown[] }; items?: unknown[] };
  const list = items ?? (Array.isArray(data) ? data : data?.items) ?? [];
  return list.length > 1 ? [`a page of one has ${list.length} entries`] : [];
}

/** A white image of 8 x 8 pixels. */
export const mask =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAAAAADhZOFXAAAADklEQVR42mP4DwUMlDEA98A/wa9cD80AAAAASUVORK5CYII=';
