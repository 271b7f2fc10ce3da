import type { OperationId } from '../../../generated/operations.ts';
import type { RunContext } from '../context/run-context.ts';
import { type HttpResponse, jsonOf } from '../wire/http-response.ts';
import type { Scenario } from './scenario.ts';

/** Returns the vectors of a response by their index. Base64 contains little-endian 32-bit numbers. */
function vectorsOf(response: HttpResponse): number[][] {
  const { data } = jsonOf(response) as { data: { index: number; embedding: number[] | string }[] };
  return data
    .toSorted((left, right) => left.index - right.index)
    .map(({ embedding }) => {
      if (typeof embedding !== 'string') return embedding;
      const bytes = Buffer.from(embedding, 'base64');
      return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
    });
}

/** Providers do not return exactly the same numbers twice. */
const maxDifference = 0.01;

/** Compares vectors with those of the same texts in another request. */
function differences(actual: number[][], expected: number[][], how: string): string[] {
  return actual.flatMap((vector, index) => {
    const other = expected[index] ?? [];
    const isSame =
      vector.length === other.length &&
      vector.every((value, at) => Math.abs(value - (other[at] ?? Infinity)) < maxDifference);
    return isSame ? [] : [`embedding: the vector of text ${index} ${how} differs from the one in the list`];
  });
}

/** Messages as a stream, and embeddings in each form. */
export const textScenarios: Partial<Record<OperationId, (context: RunContext) => Scenario[]>> = {
  createMessage: () => [
    {
      name: '200 named events',
      status: 200,
      mediaType: 'text/event-stream',
      variation: { example: 'question', change: { stream: true } },
    },
  ],
  createEmbedding: () => {
    let numbers: number[][] = [];
    const model = 'theta-embedding-1';
    const body = { model, input: ['The sea is calm.', 'A harbour at night.', 'Seventeen gulls.'] };
    return [
      {
        name: '200 several vectors',
        status: 200,
        variation: { body },
        verify: (response) => {
          numbers = vectorsOf(response);
          return numbers.length === new Set(numbers.map(String)).size
            ? []
            : ['two different texts have the same vector'];
        },
      },
      {
        name: '200 vectors as Base64',
        status: 200,
        variation: { body: { ...body, encoding_format: 'base64' } },
        verify: (response) => differences(vectorsOf(response), numbers, 'as Base64'),
      },
      {
        name: '200 one vector at a time equals its index in a list',
        status: 200,
        variation: { body: { model, input: body.input[0] ?? '' } },
        verify: (response) => differences(vectorsOf(response), numbers.slice(0, 1), 'alone'),
      },
      { name: '200 vectors of 16 dimensions', status: 200, variation: { body: { ...body, dimensions: 16 } } },
    ];
  },
};
