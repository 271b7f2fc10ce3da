import type { OperationId } from '../../../generated/operations.ts';
import type { World } from '../subject/world.ts';
import type { Ask } from './ask.ts';

/** Messages and vectors in every form that they have. */
export const textSuccesses: Partial<Record<OperationId, (world: World) => Ask[]>> = {
  createMessage: () => [
    {
      name: '200 named events',
      status: 200,
      type: 'text/event-stream',
      variation: { example: 'question', change: { stream: true } },
    },
  ],
  createEmbedding: () => [
    {
      name: '200 vectors as Base64',
      status: 200,
      variation: { example: 'text', change: { encoding_format: 'base64' } },
    },
  ],
};
