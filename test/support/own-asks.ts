import { inject, vi } from 'vitest';
import type { Ask } from '../../client/conformance/asks/ask.ts';
import { partsOf } from '../../client/conformance/asks/files.ts';
import { aboutOthers } from '../../client/conformance/asks/successes.ts';
import { type DocumentedOperation, documented } from '../../client/conformance/contract/documented.ts';
import { factsOf } from '../../client/conformance/subject/seen.ts';
import { jsonOf } from '../../client/conformance/wire/answer.ts';
import type { Variation } from '../../client/conformance/wire/exchange.ts';
import type { OperationId } from '../../generated/operations.ts';
import { exchange } from './exchange.ts';
import { faulty, filesOf, finishedVideo, preparedRequest } from './faults.ts';
import type { Faults } from './faulty-gateway.ts';
import { unseenCells } from './unseen-cells.ts';

/** What can be asked of a gateway whose provider and store obey: what nobody can bring about from outside. */
export function ownAsks(operation: DocumentedOperation): Ask[] {
  if (operation.aliasOf !== undefined) return furnished(operation);
  return [...faults(operation), ...furnished(operation), ...(others[operation.id as OperationId]?.() ?? [])];
}

/** Something fails that the caller has no part in. */
function faults(operation: DocumentedOperation): Ask[] {
  const { statuses } = factsOf(operation);
  const isSocket = statuses.includes(101);
  const failing: [number, string, Faults, string][] = [
    [502, 'when the provider fails', { provider: 500 }, 'bad_response_status_code'],
    [504, 'when the provider does not answer in time', { provider: 504 }, 'upstream_timeout'],
    [503, 'while the store is away', { store: 'away' }, 'store_unavailable'],
    [500, 'on an error that nobody thought of', { store: 'broken' }, 'internal_error'],
  ];
  return failing.flatMap(([status, title, fault, code]): Ask[] => {
    const excused = unseenCells[operation.id]?.[`${status} application/json`];
    if (!statuses.includes(status) || excused !== undefined) return [];
    return [
      {
        name: `${status} ${title}`,
        status,
        ...(isSocket && { way: 'handshake' as const }),
        expected: { code },
        // The request is made ready before the fault is set.
        variation: () => preparedRequest(operation),
        as: () => faulty(fault),
        verify: async () => {
          await faulty();
          return [];
        },
      },
    ];
  });
}

/** Documented requests about things of somebody else, at the gateway that has them under the documented ids. */
function furnished({ id, aliasOf = id, requests }: DocumentedOperation): Ask[] {
  const names = aboutOthers[aliasOf] ?? [];
  return requests.flatMap(({ mediaType, examples }) =>
    examples
      .filter(({ name }) => names.includes(name))
      .map(({ name: example }) => ({
        name: `takes the documented request ${example} (${mediaType}) where its things are`,
        status: 200,
        as: () => faulty(),
        variation: { example, mediaType },
      })),
  );
}

const made = new Map<string, Promise<string>>();

/** The id of a video with files of those kinds, the same for all who ask. */
function videoOf(endings: string): Promise<string> {
  const known = made.get(endings) ?? finishedVideo(endings);
  made.set(endings, known);
  return known;
}

const ofVideo = (endings: string, type: string, variant: string): Ask[] =>
  onFaulty(
    partsOf(
      type,
      async () => ({ path: { task_id: await videoOf(endings) }, query: { variant } }),
      `a ${type}`,
    ),
  );

const ofFile = (endings: string, which: 'video' | 'frame', type: string): Ask[] =>
  onFaulty(
    partsOf(type, async () => ({ path: (await filesOf(await videoOf(endings)))[which] }), `a ${type}`),
  );

/** The scripted provider knows no part that it does not have. */
const onFaulty = (asks: readonly Ask[]): Ask[] =>
  asks.filter(({ status }) => status !== 416).map((ask) => ({ ...ask, as: () => faulty() }));

/** A channel that is not in use by anybody else. */
const ofChannel = (): Ask[] => [
  {
    name: '200 a channel of the scripted provider',
    status: 200,
    as: () => faulty(),
    variation: { path: { name: 'native' } },
  },
];

const others: Partial<Record<OperationId, () => Ask[]>> = {
  downloadVideoContent: () => [
    ...ofVideo('mov jpg', 'video/quicktime', 'video'),
    ...ofVideo('mov jpg', 'image/jpeg', 'thumbnail'),
    ...ofVideo('mp4 webp', 'image/webp', 'thumbnail'),
  ],
  getFile: () => [
    ...ofFile('mov jpg', 'video', 'video/quicktime'),
    ...ofFile('mov jpg', 'frame', 'image/jpeg'),
    ...ofFile('mp4 webp', 'frame', 'image/webp'),
    ...ofFile('mp3 png', 'video', 'audio/mpeg'),
    ...ofFile('mp3 png', 'frame', 'image/png'),
    ...ofFile('wav pcm', 'video', 'audio/wav'),
    ...ofFile('wav pcm', 'frame', 'audio/pcm'),
    ...ofFile('ogg flac', 'video', 'audio/ogg'),
    ...ofFile('ogg flac', 'frame', 'audio/flac'),
    ...ofFile('glb bin', 'video', 'model/gltf-binary'),
    ...ofFile('glb bin', 'frame', 'application/octet-stream'),
  ],
  testChannel: ofChannel,
  enableChannel: ofChannel,
  disableChannel: () => [
    {
      name: '200 a channel that serves nobody',
      status: 200,
      variation: { path: { name: 'native-eu' }, body: { reason: 'conformance' } },
    },
  ],
  resendDelivery: () => [
    { name: '200 a delivery', status: 200, variation: async () => ({ path: { id: await triedInVain() } }) },
  ],
  deleteToken: () => [
    {
      name: '403 an admin key, by an unlimited key without the scope',
      status: 403,
      variation: async () => ({ path: { id: String((await unlimitedKey({ admin: true })).id) } }),
      as: async () => ({ ...inject('gateway'), key: (await unlimitedKey({})).key }),
      expected: { names: 'id' },
    },
  ],
};

async function unlimitedKey(fields: { admin?: boolean }): Promise<{ id: number; key: string }> {
  const answer = await exchange(inject('gateway'), documented('createToken'), {
    body: { name: 'unlimited', unlimited_quota: true, ...fields },
  });
  return (jsonOf(answer) as { data: { id: number; key: string } }).data;
}

/** The id of a callback that was tried in vain. */
async function triedInVain(): Promise<string> {
  const target = inject('gateway');
  const made = await exchange(target, documented('createOfficialVideo'), {
    body: {
      model: 'epsilon-delta-2-0-260128',
      content: [{ type: 'text', text: 'A boat.' }],
      callback_url: 'https://nowhere.invalid/hook',
    },
  });
  const { id } = jsonOf(made) as { id: string };
  const query: Variation = { query: { task_id: id } };
  return vi.waitFor(
    async () => {
      const answer = await exchange(target, documented('searchDeliveries'), query);
      const { items } = (jsonOf(answer) as { data: { items: { id: number; tries: number }[] } }).data;
      const last = items.at(-1);
      if (last === undefined || last.tries === 0) throw new Error('it was not tried yet');
      return String(last.id);
    },
    { timeout: 15_000, interval: 50 },
  );
}
