import { useMemo } from 'preact/hooks';
import type { Account, NewAccount } from '../../index.ts';
import { DialogForm } from '../calls/dialog-form.tsx';
import { useContract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form } from '../contract/form.ts';
import { Dialog } from '../parts/dialog.tsx';
import { useClient } from '../session/session.ts';

interface AccountDialogProps {
  /** The sub-account to rename. Undefined: a new one. */
  account?: Account;
  onClose: () => void;
  onSaved: (account: Account) => void;
}

/** The form that creates or renames a sub-account. */
export function AccountDialog({ account, onClose, onSaved }: AccountDialogProps) {
  const client = useClient();
  const contract = useContract();
  const form = useMemo(
    () => new Form(contract, contract.body('createMyAccount'), { name: account?.name }),
    [],
  );
  const save = async (signal: AbortSignal) => {
    // The form has the schema of this body.
    const body = form.body.value as NewAccount;
    const { accounts } = client.me;
    onSaved(
      account === undefined
        ? await accounts.create(body, { signal })
        : await accounts.update(account.id, body, { signal }),
    );
  };
  return (
    <Dialog title={account === undefined ? 'Create an account' : `Rename ${account.name}`} onClose={onClose}>
      <DialogForm
        form={form}
        label={account === undefined ? 'Create account' : 'Save'}
        call={save}
        onClose={onClose}
      >
        <Field form={form} path="name" label="Name" hint="" />
      </DialogForm>
    </Dialog>
  );
}
