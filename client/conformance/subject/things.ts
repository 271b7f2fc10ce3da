import type { OperationId } from '../../../generated/operations.ts';
import type { Json } from '../../../openapi/tools/document.ts';
import { documented } from '../contract/documented.ts';
import { jsonOf, type Target } from '../wire/answer.ts';
import { excerpt } from '../wire/wire.ts';
import type { Caller } from './caller.ts';
import { type TaskName, taskKinds } from './task-kinds.ts';
import type { Tasks, Watched } from './tasks.ts';
import { Unavailable } from './unavailable.ts';

interface Song {
  id?: string;
  clip_id?: string;
}

interface Job {
  id: string;
  buttons: { customId: string; label: string }[];
}

/** What operations are about: each is made when it is first asked for, and then is the same for all. */
export class Things {
  readonly #caller: Caller;
  readonly #target: Target;
  readonly #tasks: Tasks;
  readonly #known = new Map<string, Promise<unknown>>();

  constructor(caller: Caller, target: Target, tasks: Tasks) {
    this.#caller = caller;
    this.#target = target;
    this.#tasks = tasks;
  }

  /** A task of that kind, watched to its end. */
  task(name: TaskName): Promise<Watched> {
    const kind = taskKinds[name];
    return this.#once(`task ${name}`, async () => this.#tasks.watch(kind, await this.#tasks.start(kind)));
  }

  /** The id of a task that has a result. @throws Unavailable when it came to none */
  async finished(name: TaskName): Promise<string> {
    const { id, state } = await this.task(name);
    if (state !== taskKinds[name].done) throw new Unavailable(`the ${name} task ${id} ended as ${state}`);
    return id;
  }

  /** A task that was just made, and waits or runs. */
  fresh(name: TaskName, change: { readonly [field: string]: Json } = {}): Promise<string> {
    const { create, body } = taskKinds[name];
    return this.#tasks.start({ create, body: { ...body, ...change } });
  }

  /** A task that was just made, and waits for long enough to be canceled where a sandbox takes words for it. */
  waiting(name: 'native' | 'official', triggers: boolean): Promise<string> {
    const prompt = triggers ? 'A paper boat. [[slow]]' : 'A paper boat.';
    return this.fresh(
      name,
      name === 'native' ? { input: { prompt } } : { content: [{ type: 'text', text: prompt }] },
    );
  }

  async song(): Promise<string> {
    await this.finished('music');
    const { body } = await this.task('music');
    const [song] = (body as { data: { data?: Song[] } }).data.data ?? [];
    return song?.clip_id ?? song?.id ?? missing('the music task has no song');
  }

  /** A single picture with its buttons: one of a grid, enlarged. */
  picture(): Promise<Job> {
    return this.#once('picture', async () => {
      await this.finished('image');
      const grid = (await this.task('image')).body as Job;
      const id = await this.#tasks.start({
        create: 'submitImageAction',
        body: { taskId: grid.id, customId: buttonOf(grid, /upsample|^U1$/i) },
      });
      return (await this.#tasks.watch(taskKinds.image, id)).body as Job;
    });
  }

  /** An image job that waits for the modal call. */
  async waitingJob(): Promise<string> {
    const { id, ...picture } = await this.picture();
    const customId = buttonOf({ id, ...picture }, /inpaint|Vary \(Region\)/i);
    return this.#tasks.start({ create: 'submitImageAction', body: { taskId: id, customId } });
  }

  asset(): Promise<string> {
    return this.#once('asset', async () => {
      const body = { url: 'https://files.example/cat.png', asset_type: 'Image', name: 'conformance' };
      const { data } = (await this.made('uploadAsset', body)) as { data: { Id?: string } };
      return data.Id ?? missing('uploadAsset tells no id');
    });
  }

  session(): Promise<string> {
    return this.#once('session', async () => {
      const { data } = (await this.made('createVerificationSession', {
        callback_url: 'https://app.example/verified',
      })) as { data: { session_id: string } };
      return data.session_id;
    });
  }

  /** The id of a model that the key may use. */
  model(): Promise<string> {
    return this.#once('model', async () => {
      const { data } = (await this.made('listModels', null)) as { data: { id: string }[] };
      return data[0]?.id ?? missing('the key may use no model');
    });
  }

  /** A key of the caller's, new each time. */
  async token(): Promise<string> {
    const { data } = (await this.made('createToken', { name: 'conformance', remain_quota: 0 })) as {
      data: { id: number };
    };
    return String(data.id);
  }

  /** A user of the run's own, with the role `user`. */
  user(): Promise<string> {
    return this.#once('user', async () => {
      const name = `conformance-${crypto.randomUUID().slice(0, 8)}`;
      const { data } = (await this.made('createUser', { name, group: 'default' })) as {
        data: { id: number };
      };
      return String(data.id);
    });
  }

  /** The id of a key of that user, new each time. */
  async userToken(): Promise<string> {
    return String((await this.#userToken()).id);
  }

  /** A key of that user. */
  async userKey(): Promise<string> {
    return (await this.#userToken()).key;
  }

  async #userToken() {
    const path = { id: await this.user() };
    const { data } = (await this.made('createUserToken', { name: 'conformance', remain_quota: 0 }, path)) as {
      data: { id: number; key: string };
    };
    return data;
  }

  /** Where the file of a finished video is served without a key. */
  async file(): Promise<{ token: string; name: string }> {
    await this.finished('video');
    const { video_url: url = '' } = (await this.task('video')).body as { video_url?: string };
    const [, token, name] = /\/v1\/files\/([^/]+)\/([^/?]+)/.exec(url) ?? [];
    if (token === undefined || name === undefined)
      throw new Unavailable('results name no file of the server');
    return { token, name };
  }

  /** The answer of a call that makes something. @throws Unavailable when it is refused */
  async made(id: OperationId, body: Json, path: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const { answer } = await this.#caller.send(this.#target, documented(id), { body, path }, 'whole', true);
    if (answer.status !== 200) throw new Unavailable(`${id} answers ${answer.status} ${excerpt(answer)}`);
    return jsonOf(answer);
  }

  #once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const known = (this.#known.get(name) as Promise<T> | undefined) ?? make();
    this.#known.set(name, known);
    return known;
  }
}

function buttonOf({ buttons }: Job, like: RegExp): string {
  const found = buttons.find(({ customId, label }) => like.test(customId) || like.test(label));
  return found?.customId ?? missing('the image job has no such button');
}

function missing(what: string): never {
  throw new Unavailable(what);
}
