import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import { UnigateError } from './errors.ts';
import { FileTasks } from './tasks/file-tasks.ts';
import { recordState } from './tasks/task-protocol.ts';
import { type CreateOptions, withIdempotencyKey } from './tasks/tasks.ts';

type Schemas = components['schemas'];
type ImageSubmitReply = Schemas['ImageSubmitReply'];
export type ImageJob = Schemas['ImageJob'];
export type SucceededImageJob = ImageJob & { status: 'SUCCESS' };

/** Input for a button, and the callback of its job. */
export interface PressOptions extends CreateOptions {
  /** Prompt for a button that opens modal input. */
  prompt?: string;
  /** Mask of the area to redraw for a button that opens modal input, as the data URL of a PNG. */
  maskBase64?: string;
  notifyHook?: string;
  state?: string;
}

const modalRequired = 21;

/** Image jobs: a grid from a prompt, and the actions of its buttons. `POST /imgjob/submit/imagine`, `GET /imgjob/task/{id}/fetch` */
export class ImageJobs extends FileTasks<
  Schemas['ImagineRequest'],
  ImageSubmitReply,
  ImageJob,
  SucceededImageJob
> {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    super(caller, {
      create: (body, options) => caller.call('submitImagine', { ...options, body }),
      idOf: ({ result }) => result,
      read: (id, options) =>
        caller.callWithResponse('fetchImageJob', { ...options, params: { path: { id } } }),
      stateOf: (job) => {
        // Without the modal call the job would never end.
        const failure = { code: 'MODAL', message: 'The job waits for modal input.' };
        return job.status === 'MODAL' ? { status: 'MODAL', failure } : recordState(job, job.failReason);
      },
      isDone: (job): job is SucceededImageJob => job.status === 'SUCCESS',
      urlOf: ({ imageUrl }) => imageUrl || undefined,
    });
    this.#caller = caller;
  }

  /** Presses a button of a finished job, named by its `customId`. `POST /imgjob/submit/action` */
  action(body: Schemas['ImageActionRequest'], options: CreateOptions = {}): Promise<ImageSubmitReply> {
    return this.#caller.call('submitImageAction', { ...withIdempotencyKey(options), body });
  }

  /** Sends mask and prompt to a job that waits for modal input. The job continues. `POST /imgjob/submit/modal` */
  modal(body: Schemas['ImageModalRequest'], options: CallOptions = {}): Promise<ImageSubmitReply> {
    // A retry after a lost response would be rejected, although the job continues.
    return this.#caller.call('submitImageModal', { maxRetries: 0, ...options, body });
  }

  /**
   * Presses the button with a label such as `U1`, or with an emoji if it has no label. Returns the response; `idOf` returns
   * the id of the new job. Sends the prompt or mask to modal input if the button opens it.
   */
  async press(job: ImageJob, label: string, options: PressOptions = {}): Promise<ImageSubmitReply> {
    const { prompt, maskBase64, notifyHook, state, ...call } = options;
    const name = label.toLowerCase();
    const button = job.buttons.find((other) => nameOf(other).toLowerCase() === name);
    if (!button) {
      const names = job.buttons.map(nameOf).join(', ') || 'none';
      throw new UnigateError(`${job.id} has no button ${label}; it has ${names}.`);
    }
    const common = { notifyHook, state };
    const pressed = await this.action({ taskId: job.id, customId: button.customId, ...common }, call);
    if (pressed.code !== modalRequired || (prompt === undefined && maskBase64 === undefined)) return pressed;
    const { idempotencyKey, ...once } = call;
    return await this.modal({ taskId: this.idOf(pressed), prompt, maskBase64, ...common }, once);
  }

  /** Retrieves several jobs. Omits unknown ids. `POST /imgjob/task/list-by-condition` */
  retrieveMany(ids: string[], options: CallOptions = {}): Promise<ImageJob[]> {
    return this.#caller.call('listImageJobs', { ...options, body: { ids } });
  }
}

function nameOf({ label, emoji = '' }: Schemas['ImageButton']): string {
  return label || emoji;
}
