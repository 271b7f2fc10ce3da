/**
 * Preloaded by a child process that sends requests to an address of a client. The process ends with its parent, and
 * connects only to addresses that are public or exempt. Without the variable, it may connect to every address.
 */
import { exemptVariable, guardConnections } from './connection-guard.ts';

const exempt = process.env[exemptVariable];
if (exempt !== undefined) guardConnections(new Set(JSON.parse(exempt) as string[]));
process.once('disconnect', () => process.exit(1));
