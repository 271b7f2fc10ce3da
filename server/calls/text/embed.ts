import type { OperationRequest, Reply } from '../../http/handler.ts';
import { embeddingTexts, embeddingTokens } from '../../models/text-tokens.ts';
import { type ExpectedEmbeddings, publicEmbeddings } from '../../providers/embeddings/response.ts';
import { joinBody, readHead } from '../../providers/native/split-body.ts';
import type { Usage } from '../../quota/metering.ts';
import { type CallResponder, openMetering, requestModel, runMeteredCall } from '../metered-call.ts';
import { findTextModel, type PricedText, requireContent } from './text-call.ts';

/** A response up to this size is checked before it is sent. A longer one is streamed. */
const maxBufferedBytes = 1024 * 1024;
const json = 'application/json; charset=utf-8';

/** Creates embeddings. Reserves at most one token for each byte of the texts. */
export async function embed(
  request: OperationRequest<'createEmbedding'>,
  reply: Reply<'createEmbedding'>,
): Promise<void> {
  const { dimensions, ...fields } = request.body;
  // Null means unset, which not every provider accepts.
  const body = { ...fields, ...(typeof dimensions === 'number' && { dimensions }) };
  const { model, ...priced } = priceEmbeddings(request);
  const { likely } = priced;
  const metering = await openMetering(request, { operation: 'createEmbedding', model, ...priced });
  const expected = {
    model: model.id,
    count: embeddingTexts(body.input).length,
    encoding: body.encoding_format ?? 'float',
    likely,
  };
  const send = (signal: AbortSignal) =>
    requestModel(request, model.channels, {
      path: '/v1/embeddings',
      model: model.id,
      body: () => body,
      signal,
    });
  await runMeteredCall(request, reply, metering, send, respondWithVectors(reply, expected));
}

/** Returns the price of embeddings. @throws Failure as `findTextModel` */
export function priceEmbeddings(request: OperationRequest<'createEmbedding'>): PricedText {
  const { model: id, input } = request.body;
  const model = findTextModel(request, id, 'embeddings');
  const { most, mostOutput, likely } = embeddingTokens(input);
  return { model, expectedUnits: most, maxOutputTokens: mostOutput, likely };
}

function respondWithVectors(reply: Reply<'createEmbedding'>, expected: ExpectedEmbeddings): CallResponder {
  return async (channelResponse, { settle }) => {
    await requireContent(channelResponse, expected.model, 'json');
    const meter: { usage: Usage | undefined; delivered: boolean } = { usage: undefined, delivered: false };
    const chunks = publicEmbeddings(channelResponse.response.body, expected, async (usage) => {
      meter.usage = usage;
      await settle(meter);
    });
    const { head, rest } = await readHead(chunks, maxBufferedBytes);
    // Settled before anything is sent.
    if (rest === undefined) return { meter, send: async () => reply.bytes(200, json, head) };
    meter.delivered = true;
    return { meter, send: () => reply.stream(200, json, joinBody({ head, rest })) };
  };
}
