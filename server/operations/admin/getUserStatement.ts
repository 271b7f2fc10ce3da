import type { Handler } from '../../http/handler.ts';
import { sendStatement } from '../me/statements.ts';

/** Returns the statement of a user for a month. */
export const getUserStatement: Handler<'getUserStatement'> = async (request, reply) => {
  await sendStatement(request, reply, request.path.id);
};
