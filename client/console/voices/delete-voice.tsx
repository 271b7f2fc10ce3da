import { useRun } from '../calls/run.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';

interface DeleteVoiceProps {
  id: string;
  onDeleted: () => void;
  onClose: () => void;
}

/** Asks before a voice is deleted. */
export function DeleteVoice({ id, onDeleted, onClose }: DeleteVoiceProps) {
  const client = useClient();
  const run = useRun<void>();
  const state = run.state.value;
  const remove = async () => {
    await run.start((signal) => client.voices.delete(id, { signal }));
    if (run.state.peek().status !== 'done') return;
    onDeleted();
    onClose();
  };
  return (
    <Dialog title="Delete the voice?" onClose={onClose}>
      <p>
        <strong class="voice-id">{id}</strong> is deleted permanently. Calls that use it fail.
      </p>
      {state.status === 'failed' && <ErrorNotice error={state.error} />}
      <div class="row">
        <Button variant="danger" busy={state.status === 'running'} onClick={() => void remove()}>
          Delete
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </Dialog>
  );
}
