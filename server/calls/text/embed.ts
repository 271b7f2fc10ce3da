import { requestWithFailover } from '../../channels/failover.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import { embeddingTexts, embeddingTokens } from '../../models/text-tokens.ts';
import { type ExpectedEmbeddings, publicEmbeddings } from '../../providers/embeddings/response.ts';
import { isJson } from '../../providers/headers.ts';
import { joinBody, readHead } from '../../providers/native/split-body.ts';
import { unusableResponse } from '../../providers/unusable-response.ts';
import { Metering, type Usage } from '../../quota/metering.ts';
import { type CallResponder, runMeteredCall } from '../metered-call.ts';
import { rejectionFailureOf } from './rejection-failure.ts';
import { findTextModel } from './text-model.ts';

/** A response up to this size is checked before it is sent. A longer one is streamed. */
const maxBufferedBytes = 1024 * 1024;
const json = 'application/json; charset=utf-8';

/** Creates embeddings. Reserves at most one token for each byte of the texts. */
export async function embed(
  request: OperationRequest<'createEmbedding'>,
  reply: Reply<'createEmbedding'>,
): Promise<void> {
  const { gateway, caller, body, requestId, startedAt } = request;
  const model = findTextModel(request, body.model, 'embeddings');
  const { most, likely } = embeddingTokens(body.input);
  const metering = await Metering.open(gateway, {
    requestId,
    caller,
    operation: 'createEmbedding',
    model,
    expectedUnits: most,
    likely,
    startedAt,
  });
  const expected = {
    model: model.id,
    count: embeddingTexts(body.input).length,
    encoding: body.encoding_format ?? 'float',
    likely,
  };
  const send = (signal: AbortSignal) =>
    requestWithFailover(
      model.channels,
      (channel) => ({
        method: 'POST',
        path: '/v1/embeddings',
        body: { ...body, model: channel.upstreamModel(model.id) },
        user: caller.userId,
        signal,
      }),
      gateway.logger,
      { user: caller.userId, model: model.id },
    );
  await runMeteredCall(request, reply, metering, send, respondWithVectors(reply, expected));
}

function respondWithVectors(reply: Reply<'createEmbedding'>, expected: ExpectedEmbeddings): CallResponder {
  return async (channelResponse, { settle }) => {
    const { response } = channelResponse;
    if (response.status !== 200) throw await rejectionFailureOf(channelResponse, expected.model);
    if (!isJson(response.headers)) {
      await response.body.dump();
      throw unusableResponse();
    }
    const meter: { usage: Usage | undefined; delivered: boolean } = { usage: undefined, delivered: false };
    const chunks = publicEmbeddings(response.body, expected, async (usage) => {
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
