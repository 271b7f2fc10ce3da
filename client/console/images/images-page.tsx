import { useSignal } from '@preact/signals';
import { Images } from 'lucide';
import { useMemo } from 'preact/hooks';
import { requestIdOf, type Unigate } from '../../index.ts';
import { CallForm, submitForm } from '../calls/call-form.tsx';
import { CallPanel } from '../calls/call-panel.tsx';
import { RecentTasks } from '../calls/recent-tasks.tsx';
import { requireModels } from '../calls/require-models.tsx';
import { useRun } from '../calls/run.ts';
import { taskSample } from '../calls/samples.ts';
import { type OpenedTask, useTaskInAddress } from '../calls/task-address.ts';
import { TaskProgress } from '../calls/task-progress.tsx';
import { taskSamples } from '../calls/task-samples.ts';
import { Workbench } from '../calls/workbench.tsx';
import { useContract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form } from '../contract/form.ts';
import { EmptyState, ErrorNotice } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';
import { route } from '../shell/router.ts';
import { History } from './history.tsx';
import './images.css';
import { useJobRuns } from './job-runs.ts';
import { JobView } from './job-view.tsx';
import { addEntry, entries } from './jobs.ts';
import { ReferenceImages } from './reference-images.tsx';

type ImagineBody = Parameters<Unigate['imageJobs']['create']>[0];

const operations = ['submitImagine', 'submitImageAction', 'submitImageModal'] as const;

function Page() {
  const client = useClient();
  const contract = useContract();
  const form = useMemo(
    () =>
      new Form(contract, contract.body('submitImagine'), {
        prompt: 'a harbor at dusk, long exposure, warm light',
      }),
    [],
  );
  const runs = useJobRuns();
  const run = useRun<void>();
  const selectedId = useSignal(route.peek().query.get('task') ?? undefined);
  const body = form.body.value as ImagineBody;
  const state = run.state.value;
  const selected =
    selectedId.value === undefined
      ? entries.value[0]
      : entries.value.find(({ id }) => id === selectedId.value);
  /** The wait for a selected job that the gateway does not know. */
  const missing = selected === undefined ? runs.started(selectedId.value) : undefined;
  const open = async ({ id, request_id: requestId }: OpenedTask) => {
    if (!entries.peek().some((entry) => entry.id === id)) {
      const prompt = await client.me.tasks.retrieve(id).then(
        ({ request }) => request.prompt,
        () => undefined,
      );
      addEntry({ id, title: typeof prompt === 'string' ? prompt : id, requestId });
    }
    selectedId.value = id;
  };
  useTaskInAddress(selected?.id, (task) => void open(task));
  const create = () =>
    submitForm(form, run, async (abort) => {
      const created = await client.imageJobs.create(body, { signal: abort });
      addEntry({ id: created.result, title: body.prompt, requestId: requestIdOf(created) });
      selectedId.value = created.result;
    });
  return (
    <div class="stack">
      <Workbench
        outcome={selectedId.value}
        form={
          <CallForm run={run} label="Create images" onSubmit={create}>
            <Field
              form={form}
              path="prompt"
              label="Prompt"
              rows={4}
              hint="Options follow the text, such as --ar 3:2."
            />
            <ReferenceImages form={form} />
            <details>
              <summary>More options</summary>
              <div class="fields">
                <Field
                  form={form}
                  path="state"
                  label="State"
                  rows={2}
                  hint="Returned with the job, unchanged."
                />
                <Field form={form} path="notifyHook" label="Callback URL" />
              </div>
            </details>
            {state.status === 'failed' && <ErrorNotice error={state.error} />}
          </CallForm>
        }
      >
        {selected === undefined && missing === undefined && (
          <EmptyState icon={Images} title="Your images appear here">
            <p>Press Create images. A grid of four images takes a few seconds.</p>
          </EmptyState>
        )}
        {missing && (
          <div class="card">
            <TaskProgress run={missing} />
          </div>
        )}
        {selected && (
          <JobView
            key={selected.id}
            entry={selected}
            run={runs.of(selected)}
            onCreated={(id) => {
              selectedId.value = id;
            }}
          />
        )}
        <History
          runs={runs}
          selectedId={selected?.id}
          onSelect={(id) => {
            selectedId.value = id;
          }}
        />
        <CallPanel
          samples={taskSamples('submitImagine', body, { TypeScript: taskSample('imageJobs', body) })}
        />
      </Workbench>
      <RecentTasks
        operations={operations}
        format="image"
        shownId={selected?.id}
        refreshKey={`${entries.value[0]?.id} ${selected && runs.of(selected).state.value.status}`}
        onOpen={(task) => void open(task)}
      />
    </div>
  );
}

/** The playground of image jobs. */
export default requireModels(Page, {
  title: 'Images',
  intro: 'Create a grid of four images, then upscale or vary one of them.',
  icon: Images,
  protocols: ['imgjob'],
  kind: 'image',
});
