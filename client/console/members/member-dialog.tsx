import { useMemo } from 'preact/hooks';
import type { Member, NewMember } from '../../index.ts';
import { DialogForm } from '../calls/dialog-form.tsx';
import { ChoicesField } from '../contract/choices-field.tsx';
import { useContract } from '../contract/contract.ts';
import { Field } from '../contract/field.tsx';
import { Form } from '../contract/form.ts';
import { Dialog } from '../parts/dialog.tsx';
import type { MemberCalls } from './member-calls.ts';

interface MemberDialogProps {
  calls: MemberCalls;
  /** The member to change. Undefined: a new one. */
  member?: Member;
  onClose: () => void;
  onSaved: (member: Member) => void;
}

/** The form that adds or changes a member. */
export function MemberDialog({ calls, member, onClose, onSaved }: MemberDialogProps) {
  const contract = useContract();
  const form = useMemo(() => {
    const initial = { name: member?.name, role: member?.role ?? 'developer' };
    return new Form(contract, contract.body('createMyMember'), initial);
  }, []);
  const save = async (signal: AbortSignal) => {
    // The form has the schema of this body.
    const body = form.body.value as NewMember;
    onSaved(
      member === undefined
        ? await calls.create(body, { signal })
        : await calls.update(member.id, body, { signal }),
    );
  };
  return (
    <Dialog title={member === undefined ? 'Add a member' : `Change ${member.name}`} onClose={onClose}>
      <DialogForm
        form={form}
        label={member === undefined ? 'Add member' : 'Save'}
        call={save}
        onClose={onClose}
      >
        <Field form={form} path="name" label="Name" hint="" />
        <ChoicesField form={form} path="role" label="Role" />
        {member !== undefined && member.keys > 0 && (
          <p class="field-hint">A new role applies to all keys of the member at once.</p>
        )}
      </DialogForm>
    </Dialog>
  );
}
