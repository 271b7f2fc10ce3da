import { countTokens } from '../../calls/text/count-tokens.ts';
import type { Handler } from '../../http/handler.ts';

/** Returns the number of tokens of a conversation, as its provider counts them. */
export const countMessageTokens: Handler<'countMessageTokens'> = async (request, reply) => {
  reply.json(200, { input_tokens: await countTokens(request) });
};
