import type { Handlers } from '../http/handler.ts';
import * as operations from './index.ts';

/** The handlers of all operations of the contract. A missing one does not compile. */
export const handlers: Handlers = {
  // A copy, because reading a property of a module namespace is slower.
  ...operations,
};
