import type { OperationId } from '../../../generated/operations.ts';
import type { RunContext } from '../context/run-context.ts';
import type { Scenario } from './scenario.ts';

/** Messages as a stream and embeddings in Base64. */
export const textScenarios: Partial<Record<OperationId, (context: RunContext) => Scenario[]>> = {
  createMessage: () => [
    {
      name: '200 named events',
      status: 200,
      mediaType: 'text/event-stream',
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
