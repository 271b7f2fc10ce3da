import { rights } from '../session/session.ts';
import type { Scope } from './endpoint-calls.ts';

/** Whether the key may change the endpoints of a scope. Keys of the role `billing` only see them. */
export const mayEdit = (scope: Scope): boolean => rights.value.has(scope === 'operator' ? 'admin' : 'owner');
