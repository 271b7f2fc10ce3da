import { connectionFailure } from '../../channels/failover.ts';
import type { OperationRequest } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { parseJson } from '../../lib/json.ts';
import { withinLimit } from '../../lib/timers.ts';
import { readUpTo } from '../../providers/rejection.ts';
import { countIn } from '../../providers/token-usage.ts';
import { unusableResponse } from '../../providers/unusable-response.ts';
import { findTextModel, requestMessage, requireContent } from './text-call.ts';

const maxResponseBytes = 64 * 1024;
/** Shorter than for a message, because no text is generated. */
const timeoutMs = 120_000;

/** Counts the input tokens of a message with the provider. Free of charge. */
export async function countTokens(request: OperationRequest<'countMessageTokens'>): Promise<number> {
  const { gateway, body } = request;
  const model = findTextModel(request, body.model, 'messages');
  try {
    return await withinLimit(gateway.timers, timeoutMs, request.signal, async (signal) => {
      const channelResponse = await requestMessage(request, model, '/v1/messages/count_tokens', signal);
      await requireContent(channelResponse, model.id, 'json');
      const bytes = await readUpTo(channelResponse.response.body, maxResponseBytes);
      const tokens = countIn(parseJson(bytes), 'input_tokens');
      if (tokens === undefined) throw unusableResponse();
      return tokens;
    });
  } catch (error) {
    throw error instanceof Failure ? error : connectionFailure(error);
  }
}
