import type { components } from '../generated/http.ts';
import type { Caller, CallOptions } from './call.ts';
import { UnigateError } from './errors.ts';
import { TaskFamily } from './tasks/task-family.ts';
import { recordState } from './tasks/task-protocol.ts';
import { type CreateOptions, named } from './tasks/tasks.ts';

type Schemas = components['schemas'];
type Submitted = Schemas['ImageSubmitReply'];
export type ImageJob = Schemas['ImageJob'];
export type FinishedImageJob = ImageJob & { status: 'SUCCESS' };

/** What a button may need beside the press, and where its job is reported. */
export interface PressOptions extends CreateOptions {
  /** For a button that opens the modal call: what to draw. */
  prompt?: string;
  /** The same: the part to draw anew, as the data URL of a PNG. */
  maskBase64?: string;
  notifyHook?: string;
  state?: string;
}

const waitsForModal = 21;

/** Image jobs: a grid from a prompt, and what its buttons lead to. `POST /imgjob/submit/imagine`, `GET /imgjob/task/{id}/fetch` */
export class ImageJobs extends TaskFamily<Schemas['ImagineRequest'], Submitted, ImageJob, FinishedImageJob> {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    super(caller, {
      create: (body, options) => caller.call('submitImagine', { ...options, body }),
      idOf: ({ result }) => result,
      read: (id, options) => caller.callWithReply('fetchImageJob', { ...options, params: { path: { id } } }),
      stateOf: (job) => {
        // It would wait as long as its caller.
        const failure = { code: 'MODAL', message: 'The job waits for the modal call.' };
        return job.status === 'MODAL' ? { status: 'MODAL', failure } : recordState(job, job.failReason);
      },
      isDone: (job): job is FinishedImageJob => job.status === 'SUCCESS',
      urlOf: ({ imageUrl }) => imageUrl || undefined,
    });
    this.#caller = caller;
  }

  /** Presses a button of a finished job, named by its `customId`. `POST /imgjob/submit/action` */
  action(body: Schemas['ImageActionRequest'], options: CreateOptions = {}): Promise<Submitted> {
    return this.#caller.call('submitImageAction', { ...named(options), body });
  }

  /** Gives a job that waits for it its mask and prompt; the same job goes on. `POST /imgjob/submit/modal` */
  modal(body: Schemas['ImageModalRequest'], options: CallOptions = {}): Promise<Submitted> {
    // A repeat after a lost answer would be refused, although the job goes on.
    return this.#caller.call('submitImageModal', { maxRetries: 0, ...options, body });
  }

  /**
   * Presses the button with a label, such as `U1`, or with a sign where it has no label, and gives the answer; `idOf` of
   * it is the new job. A prompt or mask goes on to the modal call where the button opens it.
   */
  async press(job: ImageJob, label: string, options: PressOptions = {}): Promise<Submitted> {
    const { prompt, maskBase64, notifyHook, state, ...call } = options;
    const wanted = label.toLowerCase();
    const button = job.buttons.find((other) => nameOf(other).toLowerCase() === wanted);
    if (!button) {
      const names = job.buttons.map(nameOf).join(', ') || 'none';
      throw new UnigateError(`${job.id} has no button ${label}; it has ${names}.`);
    }
    const common = { notifyHook, state };
    const pressed = await this.action({ taskId: job.id, customId: button.customId, ...common }, call);
    if (pressed.code !== waitsForModal || (prompt === undefined && maskBase64 === undefined)) return pressed;
    const { idempotencyKey, ...once } = call;
    return await this.modal({ taskId: this.idOf(pressed), prompt, maskBase64, ...common }, once);
  }

  /** Several jobs as they stand; ids that are not there are left out. `POST /imgjob/task/list-by-condition` */
  retrieveMany(ids: string[], options: CallOptions = {}): Promise<ImageJob[]> {
    return this.#caller.call('listImageJobs', { ...options, body: { ids } });
  }
}

function nameOf({ label, emoji = '' }: Schemas['ImageButton']): string {
  return label || emoji;
}
