import { requestWithFailover } from '../../channels/failover.ts';
import type { OperationRequest, Reply } from '../../http/handler.ts';
import { embeddingTexts, embeddingTokens } from '../../models/text-tokens.ts';
import { type EmbeddingsAsked, publicEmbeddings } from '../../providers/embeddings/answer.ts';
import { isJson } from '../../providers/headers.ts';
import { joinBody, readHead } from '../../providers/native/split-body.ts';
import { unusable } from '../../providers/unusable.ts';
import { Metering, type Usage } from '../../quota/metering.ts';
import { answerCall, type CallAnswer } from '../metered-call.ts';
import { refusalOf } from './refusal.ts';
import { findTextModel } from './text-model.ts';

/** Answers up to this size go out when all of them is known to be good; longer ones pass through. */
const small = 1024 * 1024;
const json = 'application/json; charset=utf-8';

/** Turns the texts of a request into vectors: at the most so many tokens are held as the texts have bytes. */
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
  const asked = {
    model: model.id,
    count: embeddingTexts(body.input).length,
    encoding: body.encoding_format ?? 'float',
    likely,
  };
  const ask = (signal: AbortSignal) =>
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
  await answerCall(request, reply, metering, ask, answerWithVectors(reply, asked));
}

function answerWithVectors(reply: Reply<'createEmbedding'>, asked: EmbeddingsAsked): CallAnswer {
  return async (answered, { settle }) => {
    const { response } = answered;
    if (response.status !== 200) throw await refusalOf(answered, asked.model);
    if (!isJson(response.headers)) {
      await response.body.dump();
      throw unusable();
    }
    const meter: { usage: Usage | undefined; delivered: boolean } = { usage: undefined, delivered: false };
    const pieces = publicEmbeddings(response.body, asked, async (usage) => {
      meter.usage = usage;
      await settle(meter);
    });
    const { head, rest } = await readHead(pieces, small);
    // Nothing has gone out before it is paid.
    if (rest === undefined) return { meter, send: async () => reply.bytes(200, json, head) };
    meter.delivered = true;
    return { meter, send: () => reply.stream(200, json, joinBody({ head, rest })) };
  };
}
