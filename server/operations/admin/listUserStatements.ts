import type { Handler } from '../../http/handler.ts';
import { listStatements } from '../me/statements.ts';

/** Lists the months with statements of a user. */
export const listUserStatements: Handler<'listUserStatements'> = async (request, reply) => {
  reply.json(200, await listStatements(request, request.path.id));
};
