import type { OperationId } from '../../../generated/operations.ts';
import type { Json } from '../../../openapi/tools/document.ts';
import { documented } from '../contract/documented.ts';
import { jsonOf, type Target } from '../wire/http-response.ts';
import { excerpt } from '../wire/wire.ts';
import type { Caller } from './caller.ts';
import { type TaskName, taskKinds } from './task-kinds.ts';
import type { Tasks, WatchedTask } from './tasks.ts';
import { Unavailable } from './unavailable.ts';

interface Song {
  id?: string;
  clip_id?: string;
}

interface ImageJob {
  id: string;
  buttons: { customId: string; label: string }[];
}

/** Resources that scenarios need. Each is created on first use and shared. */
export class Fixtures {
  readonly #caller: Caller;
  readonly #target: Target;
  readonly #tasks: Tasks;
  readonly #created = new Map<string, Promise<unknown>>();

  constructor(caller: Caller, target: Target, tasks: Tasks) {
    this.#caller = caller;
    this.#target = target;
    this.#tasks = tasks;
  }

  /** A task of that kind that has ended. */
  task(name: TaskName): Promise<WatchedTask> {
    const kind = taskKinds[name];
    return this.#once(`task ${name}`, async () => this.#tasks.watch(kind, await this.#tasks.start(kind)));
  }

  /** The id of a task with a result. @throws Unavailable when the task failed */
  async finishedTask(name: TaskName): Promise<string> {
    const { id, state } = await this.task(name);
    if (state !== taskKinds[name].done) throw new Unavailable(`the ${name} task ${id} ended as ${state}`);
    return id;
  }

  /** Creates a task that waits or runs. Returns its id. */
  startTask(name: TaskName, change: { readonly [field: string]: Json } = {}): Promise<string> {
    const { create, body } = taskKinds[name];
    return this.#tasks.start({ create, body: { ...body, ...change } });
  }

  /** Creates a task to cancel. With triggers it waits long enough. Returns its id. */
  startCancelableTask(name: 'native' | 'official', triggers: boolean): Promise<string> {
    const prompt = triggers ? 'A paper boat. [[slow]]' : 'A paper boat.';
    return this.startTask(
      name,
      name === 'native' ? { input: { prompt } } : { content: [{ type: 'text', text: prompt }] },
    );
  }

  async song(): Promise<string> {
    await this.finishedTask('music');
    const { body } = await this.task('music');
    const [song] = (body as { data: { data?: Song[] } }).data.data ?? [];
    return song?.clip_id ?? song?.id ?? missing('the music task has no song');
  }

  /** An upscaled image of a grid, with its buttons. */
  image(): Promise<ImageJob> {
    return this.#once('image', async () => {
      await this.finishedTask('image');
      const grid = (await this.task('image')).body as ImageJob;
      const id = await this.#tasks.start({
        create: 'submitImageAction',
        body: { taskId: grid.id, customId: buttonOf(grid, /upsample|^U1$/i) },
      });
      return (await this.#tasks.watch(taskKinds.image, id)).body as ImageJob;
    });
  }

  /** Creates an image job that waits for modal input. Returns its id. */
  async modalJob(): Promise<string> {
    const { id, ...image } = await this.image();
    const customId = buttonOf({ id, ...image }, /inpaint|Vary \(Region\)/i);
    return this.#tasks.start({ create: 'submitImageAction', body: { taskId: id, customId } });
  }

  asset(): Promise<string> {
    return this.#once('asset', async () => {
      const body = { url: 'https://files.example/cat.png', asset_type: 'Image', name: 'conformance' };
      const { data } = (await this.create('uploadAsset', body)) as { data: { Id?: string } };
      return data.Id ?? missing('uploadAsset returns no id');
    });
  }

  session(): Promise<string> {
    return this.#once('session', async () => {
      const { data } = (await this.create('createVerificationSession', {
        callback_url: 'https://app.example/verified',
      })) as { data: { session_id: string } };
      return data.session_id;
    });
  }

  /** The id of a model that the key may use. */
  model(): Promise<string> {
    return this.#once('model', async () => {
      const { data } = (await this.create('listModels', null)) as { data: { id: string }[] };
      return data[0]?.id ?? missing('the key has access to no model');
    });
  }

  /** Creates a key of the run's user. Returns its id. */
  async token(): Promise<string> {
    const { data } = (await this.create('createToken', { name: 'conformance', remain_quota: 0 })) as {
      data: { id: number };
    };
    return String(data.id);
  }

  /** The id of a user with the role `user`. */
  user(): Promise<string> {
    return this.#once('user', async () => {
      const name = `conformance-${crypto.randomUUID().slice(0, 8)}`;
      const { data } = (await this.create('createUser', { name, group: 'default' })) as {
        data: { id: number };
      };
      return String(data.id);
    });
  }

  /** Adds a member to that user. Returns both ids. */
  async userMember(): Promise<{ id: string; member_id: string }> {
    const path = { id: await this.user() };
    const body = { name: 'conformance', role: 'developer' };
    const { data } = (await this.create('createUserMember', body, path)) as { data: { id: number } };
    return { ...path, member_id: String(data.id) };
  }

  /** The id of a member of the user of the key. */
  member(): Promise<string> {
    return this.#once('member', () => this.newMember());
  }

  /** Adds a member to the user of the key. Returns the id. */
  async newMember(): Promise<string> {
    const body = { name: 'conformance', role: 'developer' };
    const { data } = (await this.create('createMyMember', body)) as { data: { id: number } };
    return String(data.id);
  }

  /** The id of that user, who has a wallet. */
  walletUser(): Promise<string> {
    return this.#once('wallet', async () => {
      const id = await this.user();
      const grant = { amount: 1, reference: crypto.randomUUID(), reason: 'conformance' };
      await this.create('grantToWallet', grant, { id });
      return id;
    });
  }

  /** The key of a user with a wallet and the id of its sub-account. */
  customer(): Promise<{ key: string; account_id: string }> {
    return this.#once('customer', async () => {
      const name = `conformance-${crypto.randomUUID().slice(0, 8)}`;
      const createUser = async (fields: Readonly<Record<string, Json>>) =>
        ((await this.create('createUser', { name, ...fields })) as { data: { id: number } }).data.id;
      const id = await createUser({});
      const path = { id: String(id) };
      const grant = { amount: 1, reference: crypto.randomUUID(), reason: 'conformance' };
      await this.create('grantToWallet', grant, path);
      const account = await createUser({ parent_id: id });
      const token = { name: 'conformance', unlimited_quota: true };
      const { data } = (await this.create('createUserToken', token, path)) as { data: { key: string } };
      return { key: data.key, account_id: String(account) };
    });
  }

  /** Creates a key of that sub-account. Returns its id. */
  async accountToken(): Promise<string> {
    const { account_id: id } = await this.customer();
    const token = { name: 'conformance', unlimited_quota: true };
    const { data } = (await this.create('createUserToken', token, { id })) as { data: { id: number } };
    return String(data.id);
  }

  /** Creates a key of the user of the run. Returns its id. */
  async userToken(): Promise<string> {
    return String((await this.#createUserToken()).id);
  }

  /** Creates a key of the user of the run. Returns the key itself. */
  async userKey(): Promise<string> {
    return (await this.#createUserToken()).key;
  }

  async #createUserToken() {
    const path = { id: await this.user() };
    const { data } = (await this.create(
      'createUserToken',
      { name: 'conformance', remain_quota: 0 },
      path,
    )) as {
      data: { id: number; key: string };
    };
    return data;
  }

  /** Creates a budget of a new key. Returns its id. */
  async budget(): Promise<string> {
    const body = { token_id: Number(await this.userToken()), amount: 1_000, period: 'daily' };
    const { data } = (await this.create('createBudget', body)) as { data: { id: number } };
    return String(data.id);
  }

  /** Creates a callback endpoint of the user or of the operator. Returns its id. */
  async endpoint(owner: 'user' | 'operator'): Promise<string> {
    const body = { url: 'https://app.example/events', events: ['task.stuck'] };
    const operation = owner === 'user' ? 'createEndpoint' : 'createOperatorEndpoint';
    const { data } = (await this.create(operation, body)) as { data: { id: number } };
    return String(data.id);
  }

  /** Sends a test event to a new endpoint. Returns the path parameters of its delivery. */
  async eventDelivery(owner: 'user' | 'operator'): Promise<{ id: string; delivery_id: string }> {
    const id = await this.endpoint(owner);
    const operation = owner === 'user' ? 'testEndpoint' : 'testOperatorEndpoint';
    const { data } = (await this.create(operation, undefined, { id })) as { data: { id: number } };
    return { id, delivery_id: String(data.id) };
  }

  /** The path parameters of a video file that the server serves without a key. */
  async file(): Promise<{ token: string; name: string }> {
    await this.finishedTask('video');
    const { video_url: url = '' } = (await this.task('video')).body as { video_url?: string };
    const [, token, name] = /\/v1\/files\/([^/]+)\/([^/?]+)/.exec(url) ?? [];
    if (token === undefined || name === undefined)
      throw new Unavailable('results contain no file address of the server');
    return { token, name };
  }

  /** Calls an operation and returns its body. @throws Unavailable when the status is not 200 */
  async create(id: OperationId, body?: Json, path: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const variation = body === undefined ? { path } : { body, path };
    const { response } = await this.#caller.send(this.#target, documented(id), variation, 'full', true);
    if (response.status !== 200)
      throw new Unavailable(`${id} returns ${response.status} ${excerpt(response)}`);
    return jsonOf(response);
  }

  #once<T>(name: string, create: () => Promise<T>): Promise<T> {
    const created = (this.#created.get(name) as Promise<T> | undefined) ?? create();
    this.#created.set(name, created);
    return created;
  }
}

function buttonOf({ buttons }: ImageJob, like: RegExp): string {
  const found = buttons.find(({ customId, label }) => like.test(customId) || like.test(label));
  return found?.customId ?? missing('the image job has no such button');
}

function missing(message: string): never {
  throw new Unavailable(message);
}
