import type { Handler } from '../../http/handler.ts';

export const getHealth: Handler<'getHealth'> = (_request, reply) => {
  reply.json(200, { status: 'ok' });
};
