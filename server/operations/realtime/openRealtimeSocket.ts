import type { Handler } from '../../http/handler.ts';
import { upgradeRequired } from './upgrade-required.ts';

/** Only for plain HTTP; the socket itself is opened by the server's upgrade. */
export const openRealtimeSocket: Handler<'openRealtimeSocket'> = (request, reply) =>
  upgradeRequired(request, reply);
