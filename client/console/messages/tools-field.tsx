import { Plus, Trash2 } from 'lucide';
import { useEffect, useId } from 'preact/hooks';
import type { Form } from '../contract/form.ts';
import { Button, IconButton } from '../parts/button.tsx';
import type { ToolDraft, ToolDrafts } from './tools.ts';

/** The tools that the model may use. */
export function ToolsField({ form, drafts }: { form: Form; drafts: ToolDrafts }) {
  useEffect(() => form.show('tools'), [form]);
  const { tools } = drafts;
  useEffect(() => {
    form.set('tools', tools.length === 0 ? undefined : tools);
    if (tools.length === 0) form.set('tool_choice', undefined);
  }, [JSON.stringify(tools)]);
  const problem = form.problem('tools');
  const choice = form.get('tool_choice') as { type: string } | undefined;
  const choiceId = useId();
  return (
    <div class="field" role="group" aria-label="Tools">
      <div class="row-between">
        <span class="field-label">Tools</span>
        <Button small icon={Plus} onClick={() => drafts.add()}>
          Add a tool
        </Button>
      </div>
      {drafts.drafts.value.length === 0 && (
        <p class="field-hint">Functions that the model may call. You answer each call with a result.</p>
      )}
      {drafts.drafts.value.map((draft, index) => (
        <ToolEditor
          key={draft.id}
          draft={draft}
          number={index + 1}
          problem={drafts.problems.value[index]}
          drafts={drafts}
        />
      ))}
      {problem && (
        <p class="field-error" role="alert">
          {problem}
        </p>
      )}
      {tools.length > 0 && (
        <div class="field">
          <label class="field-label" for={choiceId}>
            Tool choice
          </label>
          <select
            id={choiceId}
            class="input"
            value={choice?.type ?? ''}
            onChange={({ currentTarget: { value } }) =>
              form.set('tool_choice', value === '' ? undefined : { type: value })
            }
          >
            <option value="">The model decides (auto)</option>
            <option value="any">The model must use a tool (any)</option>
            <option value="none">The model must not use a tool (none)</option>
          </select>
        </div>
      )}
    </div>
  );
}

interface ToolEditorProps {
  draft: ToolDraft;
  number: number;
  problem: string | undefined;
  drafts: ToolDrafts;
}

function ToolEditor({ draft, number, problem, drafts }: ToolEditorProps) {
  const id = useId();
  return (
    <div class="field tool-editor">
      <textarea
        class="input mono"
        rows={9}
        spellcheck={false}
        aria-label={`Tool ${number} as JSON`}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-problem`}
        value={draft.json}
        onInput={(event) => drafts.edit(draft.id, event.currentTarget.value)}
      />
      <IconButton icon={Trash2} label={`Remove tool ${number}`} onClick={() => drafts.remove(draft.id)} />
      <p class="field-error" id={`${id}-problem`} aria-live="polite">
        {problem?.replaceAll('`', '')}
      </p>
    </div>
  );
}
