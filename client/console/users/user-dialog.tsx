import { useMemo } from 'preact/hooks';
import type { NewUser, User } from '../../index.ts';
import { DialogForm } from '../calls/dialog-form.tsx';
import { useLoaded } from '../calls/run.ts';
import { useContract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form } from '../contract/form.ts';
import { Dialog } from '../parts/dialog.tsx';
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
  const contract = useContract();
  const groups = useLoaded((signal) => client.admin.groups.list({ page_size: 100 }, { signal })).state.value;
  const form = useMemo(() => {
    const schema = contract.body(user === undefined ? 'createUser' : 'updateUser');
    return new Form(contract, schema, user && { name: user.name, group: user.group, role: user.role });
  }, []);
  const save = async (signal: AbortSignal) => {
    // The form has the schema of this body.
    const body = form.body.value as NewUser;
    if (user === undefined) await client.admin.users.create(body, { signal });
    else await client.admin.users.update(user.id, body, { signal });
    onSaved();
  };
  const names =
    groups.status === 'done' ? groups.result.items.map(({ name }) => ({ value: name })) : undefined;
  return (
    <Dialog title={user === undefined ? 'Create a user' : `Change ${user.name}`} onClose={onClose}>
      <DialogForm
        form={form}
        label={user === undefined ? 'Create user' : 'Save'}
        call={save}
        onClose={onClose}
      >
        <Field form={form} path="name" label="Name" />
        <Field form={form} path="group" label="Group" {...(names && { options: names })} />
        <Field form={form} path="role" label="Role" />
      </DialogForm>
    </Dialog>
  );
}
