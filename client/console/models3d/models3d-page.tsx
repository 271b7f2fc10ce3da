import { useSignal } from '@preact/signals';
import { Box } from 'lucide';
import { useMemo } from 'preact/hooks';
import type { Model, NativeTask, Unigate } from '../../index.ts';
import { CallPanel } from '../calls/call-panel.tsx';
import { useModelInAddress } from '../calls/models.ts';
import { RecentTasks } from '../calls/recent-tasks.tsx';
import { requireModels } from '../calls/require-models.tsx';
import { taskSample } from '../calls/samples.ts';
import { type OpenedTask, useTaskInAddress } from '../calls/task-address.ts';
import { TaskResult } from '../calls/task-result.tsx';
import { type TaskCalls, useTask } from '../calls/task-run.ts';
import { taskSamples } from '../calls/task-samples.ts';
import { Workbench } from '../calls/workbench.tsx';
import { useContract } from '../contract/contract.ts';
import { EmptyState } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';
import { bodyOf, formOf, type Input } from './draft.ts';
import { ModelView } from './model-view.tsx';
import { Models3dForm } from './models3d-form.tsx';
import './models3d.css';

interface Result {
  id: string;
  url: string | undefined;
  imageUrl: string | undefined;
  task: NativeTask;
}

const operations = ['createModel3d'] as const;

function Page({ models }: { models: readonly Model[] }) {
  const client = useClient();
  const contract = useContract();
  const form = useMemo(() => formOf(contract, models[0]?.id ?? ''), []);
  useModelInAddress(models, ({ id }) => form.set('model', id));
  const input = useSignal<Input>('Text');
  const task = useTask<Result>();
  const state = task.state.value;
  const body = bodyOf(form.body.value, input.value);
  const samples = taskSamples('createModel3d', body, { TypeScript: taskSample('models3d', body) });
  const create = async () => {
    if (!form.checkAll()) return;
    await task.submit(callsOf(client), body);
    const after = task.state.peek();
    if (after.status === 'failed' && form.reject(after.error)) task.reset();
  };
  const open = ({ id, request_id: requestId }: OpenedTask) =>
    void task.follow(callsOf(client), id, requestId);
  const shownId = task.view.value?.id;
  useTaskInAddress(shownId, open);
  return (
    <div class="stack">
      <Workbench
        outcome={task.outcome}
        form={<Models3dForm form={form} models={models} input={input} run={task} onSubmit={create} />}
      >
        {task.view.value === undefined ? (
          <EmptyState icon={Box} title="Your object appears here">
            <p>Press Create object. Then turn it with the mouse, a finger or the arrow keys.</p>
          </EmptyState>
        ) : (
          <TaskResult run={task} placeholder="model-stage" onCancel={(id) => client.models3d.cancel(id)}>
            {({ id, url, imageUrl }) =>
              url === undefined ? (
                <p class="secondary">The task has no 3D file.</p>
              ) : (
                <ModelView key={id} id={id} url={url} imageUrl={imageUrl} />
              )
            }
          </TaskResult>
        )}
        <CallPanel samples={samples} />
      </Workbench>
      <RecentTasks
        operations={operations}
        format="native"
        shownId={shownId}
        refreshKey={`${shownId} ${state.status}`}
        onOpen={open}
      />
    </div>
  );
}

function callsOf({ models3d }: Unigate): TaskCalls<object, object, Result> {
  return {
    create: (body, options) => models3d.create(body as never, options),
    idOf: (created) => models3d.idOf(created as never),
    async waitFor(id, options) {
      const task = await models3d.waitFor(id, options);
      return { id, url: models3d.urlOf(task), imageUrl: task.output.results?.rendered_image_url, task };
    },
  };
}

/** The playground of 3D objects. */
export default requireModels(Page, {
  title: '3D',
  intro: 'Create objects from a text, an image or several views.',
  icon: Box,
  protocols: ['native_3d'],
  kind: '3D',
});
