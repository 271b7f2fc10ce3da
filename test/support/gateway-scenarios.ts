import { inject, vi } from 'vitest';
import type { OperationId } from '../../generated/operations.ts';
import { factsOf } from '../conformance/context/coverage.ts';
import { type DocumentedOperation, documented } from '../conformance/contract/documented.ts';
import { rangeScenarios } from '../conformance/scenarios/files.ts';
import type { Scenario } from '../conformance/scenarios/scenario.ts';
import { examplesWithExternalData } from '../conformance/scenarios/successes.ts';
import type { Variation } from '../conformance/wire/exchange.ts';
import { jsonOf } from '../conformance/wire/http-response.ts';
import { exchange } from './exchange.ts';
import { exemptResponses } from './exempt-cells.ts';
import { faulty, filesOf, finishedVideo, preparedRequest } from './faults.ts';
import type { Faults } from './faulty-gateway.ts';
import { signAssertion } from './user-assertions.ts';

/** Scenarios that need control of the gateway's provider and store. */
export function gatewayScenarios(operation: DocumentedOperation): Scenario[] {
  if (operation.aliasOf !== undefined) return seededScenarios(operation);
  return [
    ...faultScenarios(operation),
    ...seededScenarios(operation),
    ...(byOperation[operation.id as OperationId]?.() ?? []),
  ];
}

/** Failures of the provider and the store. */
function faultScenarios(operation: DocumentedOperation): Scenario[] {
  const { statuses, errorFamily } = factsOf(operation);
  const isSocket = statuses.includes(101);
  // A native operation forwards the provider's own code.
  const codeOf = (code: string, { provider }: Faults) =>
    errorFamily === 'native' && provider !== undefined ? 'Scripted' : code;
  const failing: [number, string, Faults, string][] = [
    [502, 'when the provider fails', { provider: 500 }, 'bad_response_status_code'],
    [504, 'when the provider does not answer in time', { provider: 504 }, 'upstream_timeout'],
    [503, 'while the store is unavailable', { store: 'unavailable' }, 'store_unavailable'],
    [500, 'on an unexpected error', { store: 'broken' }, 'internal_error'],
  ];
  return failing.flatMap(([status, title, fault, code]): Scenario[] => {
    const exempt = exemptResponses[operation.id]?.[`${status} application/json`];
    if (!statuses.includes(status) || exempt !== undefined) return [];
    return [
      {
        name: `${status} ${title}`,
        status,
        ...(isSocket && { mode: 'handshake' as const }),
        expected: { code: codeOf(code, fault) },
        // Creates its fixtures before the fault is set.
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

/** Documented requests on existing resources, sent to a gateway that contains them under the documented ids. */
function seededScenarios({ id, aliasOf = id, requests }: DocumentedOperation): Scenario[] {
  // Ids of endpoints and members are numbers that the store chooses.
  const hasNumber = ['updateEndpoint', 'updateMyMember'].includes(aliasOf);
  const names = hasNumber ? [] : (examplesWithExternalData[aliasOf] ?? []);
  return requests.flatMap(({ mediaType, examples }) =>
    examples
      .filter(({ name }) => names.includes(name))
      .map(({ name: example }) => ({
        name: `accepts the documented request ${example} (${mediaType}) on existing resources`,
        status: 200,
        as: () => faulty(),
        variation: { example, mediaType },
      })),
  );
}

const videos = new Map<string, Promise<string>>();

/** Returns the id of a video with files of these types. Creates it on first use. */
function videoOf(endings: string): Promise<string> {
  const video = videos.get(endings) ?? finishedVideo(endings);
  videos.set(endings, video);
  return video;
}

const ofVideo = (endings: string, type: string, variant: string): Scenario[] =>
  onFaulty(
    rangeScenarios(
      type,
      async () => ({ path: { task_id: await videoOf(endings) }, query: { variant } }),
      `a ${type}`,
    ),
  );

const ofFile = (endings: string, which: 'video' | 'frame', type: string): Scenario[] =>
  onFaulty(
    rangeScenarios(type, async () => ({ path: (await filesOf(await videoOf(endings)))[which] }), `a ${type}`),
  );

/** Sends the scenarios to the gateway with the scripted provider, which never returns 416. */
const onFaulty = (scenarios: readonly Scenario[]): Scenario[] =>
  scenarios.filter(({ status }) => status !== 416).map((scenario) => ({ ...scenario, as: () => faulty() }));

/** A channel that no other test uses. */
const ofChannel = (): Scenario[] => [
  {
    name: '200 a channel of the scripted provider',
    status: 200,
    as: () => faulty(),
    variation: { path: { name: 'native' } },
  },
];

const byOperation: Partial<Record<OperationId, () => Scenario[]>> = {
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
      name: '200 a channel without groups',
      status: 200,
      variation: { path: { name: 'native-eu' }, body: { reason: 'conformance' } },
    },
  ],
  resendDelivery: () => [
    {
      name: '200 a delivery',
      status: 200,
      variation: async () => ({ path: { id: await failedDelivery() } }),
    },
  ],
  createSession: () => [
    { name: '200 the user of an assertion', status: 200, variation: assertionOf('root') },
    {
      name: '403 a user that does not exist',
      status: 403,
      variation: assertionOf('nobody'),
      expected: { field: 'sub' },
    },
  ],
  deleteToken: () => [
    {
      name: '403 an unlimited key without the admin scope deletes an admin key',
      status: 403,
      variation: async () => ({ path: { id: String((await unlimitedKey({ admin: true })).id) } }),
      as: async () => ({ ...inject('gateway'), key: (await unlimitedKey({})).key }),
      expected: { field: 'id' },
    },
  ],
};

const assertionOf = (user: string) => async (): Promise<Variation> => ({
  headers: { 'x-unigate-user-assertion': await signAssertion(user) },
});

async function unlimitedKey(fields: { admin?: boolean }): Promise<{ id: number; key: string }> {
  const response = await exchange(inject('gateway'), documented('createToken'), {
    body: { name: 'unlimited', unlimited_quota: true, ...fields },
  });
  return (jsonOf(response) as { data: { id: number; key: string } }).data;
}

/** Returns the id of a callback delivery that has failed once. */
async function failedDelivery(): Promise<string> {
  const target = inject('gateway');
  const created = await exchange(target, documented('createOfficialVideo'), {
    body: {
      model: 'epsilon-delta-2-0-260128',
      content: [{ type: 'text', text: 'A boat.' }],
      callback_url: 'https://nowhere.invalid/hook',
    },
  });
  const { id } = jsonOf(created) as { id: string };
  const query: Variation = { query: { task_id: id } };
  return vi.waitFor(
    async () => {
      const response = await exchange(target, documented('searchDeliveries'), query);
      const { items } = (jsonOf(response) as { data: { items: { id: number; tries: number }[] } }).data;
      const last = items.at(-1);
      if (last === undefined || last.tries === 0) throw new Error('no delivery attempt yet');
      return String(last.id);
    },
    { timeout: 15_000, interval: 50 },
  );
}
