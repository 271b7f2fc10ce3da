import { connectionFailure } from '../../channels/failover.ts';
import type { OperationRequest } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import { withinLimit } from '../../lib/timers.ts';
import { isJson } from '../../providers/headers.ts';
import { readUpTo } from '../../providers/rejection.ts';
import { tokensIn } from '../../providers/token-usage.ts';
import { unusable } from '../../providers/unusable.ts';
import { askForMessage } from './message-request.ts';
import { refusalOf } from './refusal.ts';
import { findTextModel } from './text-model.ts';

/** Longest answer, in bytes. */
const maxAnswerBytes = 64 * 1024;
/** Nothing is written, so that it takes no long time; in milliseconds. */
const limit = 120_000;

/** Tokens that the model would read, as its provider counts them. It costs nothing. */
export async function countTokens(request: OperationRequest<'countMessageTokens'>): Promise<number> {
  const { gateway, body } = request;
  const model = findTextModel(request, body.model, 'messages');
  try {
    return await withinLimit(gateway.timers, limit, request.signal, async (signal) => {
      const answered = await askForMessage(request, model, '/v1/messages/count_tokens', signal);
      const { response } = answered;
      if (response.status !== 200) throw await refusalOf(answered, model.id);
      const bytes = await readUpTo(response.body, maxAnswerBytes);
      const tokens = isJson(response.headers) ? tokensIn(parsed(bytes), 'input_tokens') : undefined;
      if (tokens === undefined) throw unusable();
      return tokens;
    });
  } catch (error) {
    throw error instanceof Failure ? error : connectionFailure(error);
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}
