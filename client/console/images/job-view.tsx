import { useSignal } from '@preact/signals';
import { Download, Paintbrush } from 'lucide';
import { useEffect } from 'preact/hooks';
import { requestIdOf, type SucceededImageJob } from '../../index.ts';
import { useRun } from '../calls/run.ts';
import { TaskProgress } from '../calls/task-progress.tsx';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';
import { type JobRun, needsInput } from './job-runs.ts';
import {
  addEntry,
  buttonRows,
  type ImageButton,
  type JobEntry,
  labelOf,
  needsMask,
  retitle,
  titleOf,
} from './jobs.ts';
import { ModalInput } from './modal-input.tsx';

interface JobViewProps {
  entry: JobEntry;
  run: JobRun;
  /** Called with the id of the job that a button has created. */
  onCreated: (id: string) => void;
}

/** The selected job: its image in full width, its buttons, and its progress. */
export function JobView({ entry, run, onCreated }: JobViewProps) {
  const client = useClient();
  const state = run.state.value;
  const waits = needsInput(run) && entry.modal !== undefined;
  const isInputOpen = useSignal(false);
  useEffect(() => {
    isInputOpen.value = waits;
  }, [waits]);
  return (
    <section class="card stack" aria-label="Result">
      {state.status === 'running' && <div class="image-placeholder skeleton" />}
      {state.status === 'done' && (
        <FinishedJob job={state.result} title={entry.title} onCreated={onCreated} />
      )}
      {waits && (
        <div class="row-between notice notice-warning">
          <p>The job starts when it has its {entry.modal?.needsMask ? 'area and prompt' : 'prompt'}.</p>
          <Button small icon={Paintbrush} onClick={() => (isInputOpen.value = true)}>
            Continue
          </Button>
        </div>
      )}
      <TaskProgress run={run} hideError={waits} />
      {isInputOpen.value && entry.modal && (
        <ModalInput
          taskId={entry.id}
          modal={entry.modal}
          title={entry.title}
          onClose={() => (isInputOpen.value = false)}
          onSent={(prompt) => {
            isInputOpen.value = false;
            retitle(entry, prompt);
            void run.follow(client.imageJobs, entry.id, entry.requestId);
          }}
        />
      )}
    </section>
  );
}

interface FinishedJobProps {
  job: SucceededImageJob;
  title: string;
  onCreated: (id: string) => void;
}

function FinishedJob({ job, title, onCreated }: FinishedJobProps) {
  const client = useClient();
  const isFull = useSignal(false);
  const pressed = useSignal<string | undefined>(undefined);
  const run = useRun<void>();
  const url = job.imageUrl ?? '';
  const press = (button: ImageButton) => {
    pressed.value = button.customId;
    void run.start(async (abort) => {
      const { customId } = button;
      const created = await client.imageJobs.action({ taskId: job.id, customId }, { signal: abort });
      const prompt = created.properties.finalPrompt ?? job.prompt ?? '';
      addEntry({
        id: created.result,
        title: titleOf(labelOf(button), job.prompt ?? title),
        requestId: requestIdOf(created),
        ...(created.code === modalCode && { modal: { imageUrl: url, needsMask: needsMask(button), prompt } }),
      });
      onCreated(created.result);
    });
  };
  const isRunning = run.state.value.status === 'running';
  return (
    <>
      <button
        type="button"
        class="image-open"
        aria-label="Show in full size"
        onClick={() => (isFull.value = true)}
      >
        <img src={url} alt={title} />
      </button>
      <div class="image-buttons">
        {buttonRows(job.buttons).map(([row, buttons]) => (
          <div key={row} class="image-row" role="group" aria-label={row}>
            <span class="secondary">{row}</span>
            <div class="row">
              {buttons.map((button) => (
                <Button
                  key={button.customId}
                  small
                  busy={isRunning && pressed.value === button.customId}
                  disabled={isRunning}
                  onClick={() => press(button)}
                >
                  {labelOf(button)}
                </Button>
              ))}
            </div>
          </div>
        ))}
      </div>
      {run.state.value.status === 'failed' && <ErrorNotice error={run.state.value.error} />}
      <div class="row-between">
        <span class="secondary">{title}</span>
        <a class="button button-small" href={url} download={`${job.id}.png`}>
          <Icon node={Download} />
          Download
        </a>
      </div>
      {isFull.value && (
        <Dialog wide title={title} onClose={() => (isFull.value = false)}>
          <img class="image-full" src={url} alt={title} />
        </Dialog>
      )}
    </>
  );
}

/** Code of a reply whose job waits for a prompt or a mask. */
const modalCode = 21;
