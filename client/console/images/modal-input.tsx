import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useRun } from '../calls/run.ts';
import { submitHandlers } from '../calls/submit.ts';
import { useContract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form } from '../contract/form.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';
import type { JobEntry } from './jobs.ts';
import { MaskEditor } from './mask-editor.tsx';

interface ModalInputProps {
  taskId: string;
  modal: NonNullable<JobEntry['modal']>;
  title: string;
  onClose: () => void;
  onSent: (prompt: string) => void;
}

/** Asks for the prompt of a waiting job, and for the area to redraw if it needs one. */
export function ModalInput({ taskId, modal, title, onClose, onSent }: ModalInputProps) {
  const client = useClient();
  const contract = useContract();
  const form = useMemo(
    () => new Form(contract, contract.body('submitImageModal'), { taskId, prompt: modal.prompt }),
    [],
  );
  const mask = useSignal<string | undefined>(undefined);
  const isRejected = useSignal(false);
  const run = useRun<void>();
  const state = run.state.value;
  const isIncomplete = modal.needsMask && mask.value === undefined;
  const send = async () => {
    if (isIncomplete || !form.checkAll()) return;
    const prompt = form.get('prompt') as string | undefined;
    isRejected.value = false;
    await run.start(async () => {
      await client.imageJobs.modal({ taskId, prompt, maskBase64: mask.value });
      onSent(prompt ?? modal.prompt);
    });
    const after = run.state.peek();
    if (after.status === 'failed') isRejected.value = form.reject(after.error);
  };
  return (
    <Dialog wide={modal.needsMask} title={title} onClose={onClose}>
      <form class="fields" noValidate {...submitHandlers(() => void send())}>
        {modal.needsMask && (
          <MaskEditor
            imageUrl={modal.imageUrl}
            onChange={(value) => {
              mask.value = value;
            }}
          />
        )}
        <Field
          form={form}
          path="prompt"
          label="Prompt"
          rows={3}
          hint={
            modal.needsMask
              ? 'Content of the painted area.'
              : 'The options at its end apply, such as --zoom 1.8.'
          }
        />
        {state.status === 'failed' && !isRejected.value && <ErrorNotice error={state.error} />}
        <div class="row">
          <Button submit variant="primary" disabled={isIncomplete} busy={state.status === 'running'}>
            Start job
          </Button>
          <Button onClick={onClose}>Later</Button>
          {isIncomplete && <span class="secondary">Paint the area to redraw first.</span>}
        </div>
      </form>
    </Dialog>
  );
}
