import type { Caller } from '../call.ts';
import { Changes } from './changes.ts';

/** What the operator does; asks for the key of an admin, others get PermissionDeniedError. */
export class Admin {
  readonly changes: Changes;

  constructor(caller: Caller) {
    this.changes = new Changes(caller);
  }
}
