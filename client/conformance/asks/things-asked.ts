import type { OperationId } from '../../../generated/operations.ts';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import { type TaskName, taskKinds } from '../subject/task-kinds.ts';
import { Unavailable } from '../subject/unavailable.ts';
import type { World } from '../subject/world.ts';
import { jsonOf } from '../wire/answer.ts';
import type { Ask } from './ask.ts';

/** The state of a task of each kind, from its beginning to its end. */
const watched =
  (...names: TaskName[]) =>
  ({ things }: World): Ask[] =>
    names.map((name) => ({
      name: `200 ${name === 'image' ? 'an image job' : `a ${name} task`} whose states only go forward`,
      status: 200,
      variation: async () => ({ path: { [taskKinds[name].param]: (await things.task(name)).id } }),
      verify: async () => (await things.task(name)).problems,
    }));

const ofTask =
  (name: TaskName, status: number, title: string) =>
  ({ things }: World): Ask[] => [
    {
      name: title,
      status,
      variation: async () => ({ path: { [taskKinds[name].param]: await things.finished(name) } }),
    },
  ];

/** Requests about songs: a finished one, and one that is still being made. */
const ofSong = ({ things, tasks, triggers }: World): Ask[] => [
  {
    name: '200 a finished song',
    status: 200,
    variation: async () => ({ path: { clip_id: await things.song() } }),
  },
  {
    name: '409 a song that is still being made',
    status: 409,
    expected: { code: 'resource_not_ready', names: 'clip_id' },
    variation: async () => {
      if (!triggers) throw new Unavailable('a task that never ends is needed, which only a trigger makes');
      const id = await things.fresh('music', { prompt: 'The sea. [[never]]' });
      const { body } = await tasks.watch(taskKinds.music, id, ['IN_PROGRESS']);
      const [song] = (body as { data: { data?: { id?: string }[] } }).data.data ?? [];
      return { path: { clip_id: song?.id ?? '' } };
    },
  },
];

/** Continuations of songs that cannot be continued, which `body` puts into the form of the route. */
const ofOtherSongs =
  (body: (more: JsonObject) => JsonObject) =>
  ({ things, triggers }: World): Ask[] => [
    {
      name: '409 to continue a song that is not complete',
      status: 409,
      expected: { code: 'resource_not_ready' },
      variation: async () => {
        if (!triggers) throw new Unavailable('a task that never ends is needed, which only a trigger makes');
        const id = await things.fresh('music', { prompt: 'The sea. [[never]]' });
        return { body: body({ prompt: 'And on it goes', continue_clip_id: id, continue_at: 1 }) };
      },
    },
    {
      name: '404 to continue a song of nobody',
      status: 404,
      expected: { names: 'continue_clip_id' },
      variation: {
        body: body({
          prompt: 'And on it goes',
          continue_clip_id: '00000000-0000-4000-8000-000000000000',
          continue_at: 1,
        }),
      },
    },
  ];

/** Tasks that end badly, and say why. */
const failed = ({ things, tasks, triggers }: World): Ask[] =>
  (
    [
      ['fails at its end', '[[fail-late]]', 'video'],
      ['expires', '[[expire]]', 'thumbnailed'],
    ] as const
  ).map(([how, word, name]) => ({
    name: `200 a task that ${how}`,
    status: 200,
    variation: async () => {
      if (!triggers) throw new Unavailable('a task that fails is needed, which only a trigger makes');
      const id = await things.fresh(name, { prompt: `The sea. ${word}` });
      await tasks.watch(taskKinds.video, id);
      return { path: { task_id: id } };
    },
    verify: (answer) => {
      const { status, error } = jsonOf(answer) as { status: string; error: unknown };
      return status === 'failed' && error !== null ? [] : [`it is ${status}, without a reason`];
    },
  }));

/** A name that a request has, and then another one. */
function onceUnderAName(words: string, body: (words: string) => JsonObject): Ask[] {
  const headers = { 'Idempotency-Key': crypto.randomUUID() };
  return [
    { name: '200 under a name of its own', status: 200, variation: { body: body(words), headers } },
    {
      name: '400 another request under that name',
      status: 400,
      expected: { code: 'idempotency_key_reused' },
      variation: { body: body(`${words} again`), headers },
    },
  ];
}

const pages = (): Ask[] => [
  { name: '200 a list', status: 200 },
  { name: '200 a short page', status: 200, variation: { query: { limit: 1 } }, verify: atMostOne },
];

/** Requests about what must be there first. */
export const aboutThings: Partial<Record<OperationId, (world: World) => Ask[]>> = {
  getVideo: (world) => [...watched('video')(world), ...failed(world)],
  getGenericVideo: watched('generic', 'family'),
  getNativeTask: watched('native', 'model3d'),
  getOfficialVideo: watched('official'),
  fetchMusicTask: watched('music', 'lyrics'),
  fetchImageJob: watched('image'),
  listVideos: pages,
  listOfficialVideos: () => [
    { name: '200 a list', status: 200 },
    { name: '200 a short page', status: 200, variation: { query: { page_size: 1 } }, verify: atMostOne },
  ],
  getMusic: ofTask('music', 200, '200 a finished music task'),
  fetchMusicTasks: ({ things }) => [
    {
      name: '200 several tasks',
      status: 200,
      variation: async () => ({ body: { ids: [await things.finished('lyrics')] } }),
    },
  ],
  listImageJobs: ({ things }) => [
    {
      name: '200 several jobs',
      status: 200,
      variation: async () => ({ body: { ids: [await things.finished('image')] } }),
    },
  ],
  getClip: ({ things }) => [
    { name: '200 a song', status: 200, variation: async () => ({ path: { clip_id: await things.song() } }) },
  ],
  getClipWav: ofSong,
  getClipTiming: ofSong,
  submitMusic: ofOtherSongs((more) => ({ custom_mode: 1, ...more })),
  createMusic: ofOtherSongs((input) => ({ custom_mode: true, input })),
  submitImageAction: ({ things }) => [
    {
      name: '200 a button of a picture',
      status: 200,
      variation: async () => {
        const { id, buttons } = await things.picture();
        return { body: { taskId: id, customId: buttons[0]?.customId ?? '' } };
      },
    },
    {
      name: '404 a picture that another key created',
      status: 404,
      as: 'penniless',
      variation: async () => {
        const { id, buttons } = await things.picture();
        return { body: { taskId: id, customId: buttons[0]?.customId ?? '' } };
      },
    },
  ],
  submitImageModal: ({ things }) => [
    {
      name: '200 a job that waits for it goes on',
      status: 200,
      variation: async () => ({
        body: { taskId: await things.waitingJob(), prompt: 'a lighthouse', maskBase64: mask },
      }),
    },
  ],
  getModel: ({ things }) => [
    {
      name: '200 a model of the list',
      status: 200,
      variation: async () => ({ path: { model: await things.model() } }),
    },
  ],
  getAsset: ({ things }) => [
    { name: '200 an asset', status: 200, variation: async () => ({ path: { id: await things.asset() } }) },
  ],
  getVerificationSession: ({ things }) => [
    {
      name: '200 a session',
      status: 200,
      variation: async () => ({ path: { session_id: await things.session() } }),
    },
  ],
  deleteVideo: ({ things, tasks }) => [
    {
      name: '200 a task that has ended',
      status: 200,
      variation: async () => ({
        path: { task_id: (await tasks.watch(taskKinds.video, await things.fresh('video'))).id },
      }),
    },
  ],
  downloadVideoContent: ({ things, triggers }) => [
    {
      name: '400 the file of a task that has not ended',
      status: 400,
      expected: { code: 'task_not_completed' },
      variation: async () => {
        if (!triggers) throw new Unavailable('a task that never ends is needed, which only a trigger makes');
        return { path: { task_id: await things.fresh('video', { prompt: 'The sea. [[never]]' }) } };
      },
    },
  ],
  submitLyrics: () => onceUnderAName('The sea', (prompt) => ({ prompt })),
  createNativeVideo: () => [
    ...onceUnderAName('The sea', (prompt) => ({
      model: 'gamma3.0-video-prime',
      input: { prompt },
      parameters: { resolution: '480P', duration: 2 },
    })),
    {
      name: '400 media that cannot go together',
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
  cancelNativeTask: ({ things, triggers }) => [
    {
      name: '400 a task that has ended',
      status: 400,
      expected: { code: 'UnsupportedOperation' },
      variation: async () => ({ path: { task_id: await things.finished('native') } }),
    },
    {
      name: '200 a task that waits',
      status: [200, 400],
      variation: async () => ({ path: { task_id: await things.waiting('native', triggers) } }),
    },
  ],
  deleteOfficialVideo: ({ things, triggers }) => [
    {
      name: '204 a task that waits',
      status: [204, 400],
      variation: async () => ({ path: { task_id: await things.waiting('official', triggers) } }),
    },
  ],
  deleteToken: ({ things }) => [
    {
      name: '404 a limited key for one that it did not create',
      status: 404,
      as: 'penniless',
      variation: async () => ({ path: { id: await things.token() } }),
      expected: { names: 'id' },
    },
    {
      name: '200 a key of the run',
      status: 200,
      variation: async () => ({ path: { id: await things.token() } }),
    },
  ],
  createToken: () => [
    {
      name: '403 a key that a limited one may not make',
      status: 403,
      as: 'penniless',
      variation: { body: { name: 'conformance', unlimited_quota: true } },
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

/** What is wrong with a page that was asked for one thing. */
function atMostOne(answer: Parameters<typeof jsonOf>[0]): string[] {
  const { data, items } = jsonOf(answer) as { data?: unknown[] | { items?: unknown[] }; items?: unknown[] };
  const list = items ?? (Array.isArray(data) ? data : data?.items) ?? [];
  return list.length > 1 ? [`a page of one has ${list.length} entries`] : [];
}

/** White all over, 8 by 8 points. */
export const mask =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAAAAADhZOFXAAAADklEQVR42mP4DwUMlDEA98A/wa9cD80AAAAASUVORK5CYII=';
