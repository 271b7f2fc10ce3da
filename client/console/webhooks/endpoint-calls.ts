import type { AdminEndpoints, Endpoints, Unigate } from '../../index.ts';

/** Whose endpoints the page shows: those of the user of the key, or those of the operator. */
export type Scope = 'own' | 'operator';

/** Returns the methods for the endpoints of a scope. */
export const endpointsOf = ({ me, admin }: Unigate, scope: Scope): Endpoints | AdminEndpoints =>
  scope === 'operator' ? admin.endpoints : me.endpoints;
