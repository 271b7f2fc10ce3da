import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import { MyTasks } from './my-tasks.ts';

type Schemas = components['schemas'];
export type MeReply = Schemas['Me'];

/** The key of the client and its tasks. */
export class Me {
  readonly tasks: MyTasks;
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
    this.tasks = new MyTasks(caller);
  }

  /** Retrieves the key with its scopes, models, limits and quota, its user and its group. `GET /api/me` */
  async retrieve(options: CallOptions = {}): Promise<MeReply> {
    return (await this.#caller.call('getMe', options)).data;
  }
}
