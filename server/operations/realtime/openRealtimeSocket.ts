import type { Handler } from '../../http/handler.ts';
import { upgradeRequired } from './upgrade-required.ts';

export const openRealtimeSocket: Handler<'openRealtimeSocket'> = (request, reply) =>
  upgradeRequired(request, reply);
