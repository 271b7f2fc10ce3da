import { useMemo } from 'preact/hooks';
import type { NewUser, User } from '../../index.ts';
import { useLoaded, useRun } from '../calls/run.ts';
import { contract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form } from '../contract/form.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ErrorNotice } from '../parts/notices.tsx';
import { useClient } from '../session/session.ts';

interface UserDialogProps {
  /** Undefined creates a user. */
  user: User | undefined;
  onClose: () => void;
  onSaved: () => void;
}

/** The form that creates or changes a user. */
export function UserDialog({ user, onClose, onSaved }: UserDialogProps) {
  const client = useClient();
  const run = useRun<void>();
  const groups = useLoaded((signal) => client.admin.groups.list({ page_size: 100 }, { signal })).state.value;
  const form = useMemo(() => {
    if (contract.value === undefined) throw new Error('The contract is not loaded.');
    const schema = contract.value.body(user === undefined ? 'createUser' : 'updateUser');
    return new Form(contract.value, schema, user && { name: user.name, group: user.group, role: user.role });
  }, []);
  const state = run.state.value;
  const submit = () => {
    if (!form.checkAll()) return;
    // The form has the schema of this body.
    const body = form.body.value as NewUser;
    void run.start(async (signal) => {
      try {
        if (user === undefined) await client.admin.users.create(body, { signal });
        else await client.admin.users.update(user.id, body, { signal });
        onSaved();
      } catch (error) {
        if (!form.reject(error)) throw error;
      }
    });
  };
  const names =
    groups.status === 'done' ? groups.result.items.map(({ name }) => ({ value: name })) : undefined;
  return (
    <Dialog title={user === undefined ? 'Create a user' : `Change ${user.name}`} onClose={onClose}>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Field form={form} path="name" label="Name" />
        <Field form={form} path="group" label="Group" {...(names && { options: names })} />
        <Field form={form} path="role" label="Role" />
        {state.status === 'failed' && <ErrorNotice error={state.error} />}
        <div class="row">
          <Button submit variant="primary" busy={state.status === 'running'}>
            {user === undefined ? 'Create user' : 'Save'}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}
