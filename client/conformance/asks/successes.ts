import type { OperationId } from '../../../generated/operations.ts';
import type { DocumentedOperation } from '../contract/documented.ts';
import { factsOf } from '../subject/seen.ts';
import { Unavailable } from '../subject/unavailable.ts';
import type { World } from '../subject/world.ts';
import { adminSuccesses } from './admin.ts';
import type { Ask } from './ask.ts';
import { fileSuccesses } from './files.ts';
import { plainRequest } from './plain.ts';
import { speechSuccesses } from './speech.ts';
import { textSuccesses } from './texts.ts';
import { aboutThings } from './things-asked.ts';
import { voiceSuccesses } from './voices.ts';

/**
 * Documented requests about recordings on the web, or about voices, songs, jobs and assets of somebody who has them
 * under the documented ids: a server that does not know them may refuse.
 */
export const aboutOthers: Readonly<Record<string, readonly string[]>> = {
  customizeVoice: ['clone', 'query', 'update', 'delete', 'alpha_clone', 'alpha_query', 'alpha_delete'],
  createVideo: ['seedance_references'],
  createGenericVideo: ['seedance_references'],
  createOfficialVideo: ['references'],
  submitMusic: ['continuation', 'stems'],
  submitImagine: ['reference'],
  submitImageAction: ['upscale', 'inpaint'],
  submitImageModal: ['inpaint', 'custom_zoom'],
};

const own: Partial<Record<OperationId, (world: World) => Ask[]>> = {
  ...speechSuccesses,
  ...voiceSuccesses,
  ...textSuccesses,
  ...aboutThings,
  ...fileSuccesses,
  ...adminSuccesses,
  // About a file, and about a task.
  downloadVideoContent: (world) => [
    ...(fileSuccesses.downloadVideoContent?.(world) ?? []),
    ...(aboutThings.downloadVideoContent?.(world) ?? []),
  ],
};

/** Requests that are carried out: every documented one as it stands, and what shows the other documented answers. */
export function successes(operation: DocumentedOperation, world: World): Ask[] {
  const id = (operation.aliasOf ?? operation.id) as OperationId;
  const { role, path } = factsOf(operation);
  if (role !== undefined) return (own[id]?.(world) ?? []).map((ask) => guarded(ask, world));
  const asks = [...documentedRequests(operation), ...(own[id]?.(world) ?? [])];
  if (asks.length > 0) return asks;
  const good = operation.responses.find(({ status }) => status >= 101 && status < 300)?.status ?? 200;
  if (good === 101) return [{ name: '101 a handshake', status: 101, way: 'handshake' }];
  return path.includes('{')
    ? []
    : [{ name: `${good} the plain request`, status: good, variation: plainRequest(operation) }];
}

function documentedRequests(operation: DocumentedOperation): Ask[] {
  const others = aboutOthers[operation.aliasOf ?? operation.id] ?? [];
  return operation.requests.flatMap(({ mediaType, examples }) =>
    examples.map(({ name: example }): Ask => {
      const variation = { example, mediaType };
      const name = `the documented request ${example} (${mediaType})`;
      return others.includes(example)
        ? { name: `answers ${name}`, status: [200, 400, 404], variation, mayBeProviders: true }
        : { name: `takes ${name}`, status: 200, variation };
    }),
  );
}

/** What an admin alone may ask is skipped without such a key. */
const guarded = (ask: Ask, { isAdmin }: World): Ask => ({
  ...ask,
  variation: async () => {
    if (!isAdmin) throw new Unavailable('the key is not one of an admin');
    return typeof ask.variation === 'function' ? await ask.variation() : (ask.variation ?? {});
  },
});
