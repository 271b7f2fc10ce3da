import type { Handler } from '../../http/handler.ts';
import { upgradeRequired } from './upgrade-required.ts';

export const openInferenceSocket: Handler<'openInferenceSocket'> = (request, reply) =>
  upgradeRequired(request, reply);
