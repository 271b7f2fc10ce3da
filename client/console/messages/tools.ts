import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Contract } from '../contract/contract.ts';

/** The definition of a tool as the user edits it. */
export interface ToolDraft {
  id: number;
  json: string;
}

/** A tool that fits the first message of the page. */
const exampleTool = {
  name: 'get_tide',
  description: 'Next low tide of a harbour.',
  input_schema: {
    type: 'object',
    properties: { harbour: { type: 'string' } },
    required: ['harbour'],
  },
};

/** The tools of the request, edited as JSON. */
export class ToolDrafts {
  readonly drafts = signal<readonly ToolDraft[]>([]);
  readonly problems: ReadonlySignal<readonly (string | undefined)[]>;
  #nextId = 0;

  constructor(contract: Contract) {
    this.problems = computed(() => this.drafts.value.map(({ json }) => toolProblem(contract, json)));
  }

  /** The tools, if all of them are valid. */
  get tools(): object[] {
    return this.problems.value.some((problem) => problem !== undefined)
      ? []
      : this.drafts.value.map(({ json }) => JSON.parse(json) as object);
  }

  add(): void {
    const count = this.drafts.peek().length;
    const tool = count === 0 ? exampleTool : { ...exampleTool, name: `tool_${count + 1}`, description: '' };
    this.#nextId += 1;
    this.drafts.value = [
      ...this.drafts.peek(),
      { id: this.#nextId, json: JSON.stringify(tool, undefined, 2) },
    ];
  }

  edit(id: number, json: string): void {
    this.drafts.value = this.drafts.peek().map((draft) => (draft.id === id ? { id, json } : draft));
  }

  remove(id: number): void {
    this.drafts.value = this.drafts.peek().filter((draft) => draft.id !== id);
  }
}

/** Returns why a text does not define a tool, as a sentence. Undefined if it does. */
function toolProblem(contract: Contract, json: string): string | undefined {
  let tool: unknown;
  try {
    tool = JSON.parse(json);
  } catch (error) {
    return `This is not JSON: ${error instanceof Error ? error.message : String(error)}.`;
  }
  if (typeof tool !== 'object' || tool === null || Array.isArray(tool)) return 'A tool is a JSON object.';
  const { type, name, input_schema: schema } = tool as Record<string, unknown>;
  // The provider defines the fields of its own tools.
  if (typeof type === 'string' && type !== 'custom') return undefined;
  const { pattern = '', 'x-form': rule } = contract.at(contract.component('Tool'), ['name']) ?? {};
  if (typeof name !== 'string' || !new RegExp(pattern, 'u').test(name))
    return `\`name\` ${rule ?? 'is required'}.`;
  const isSchema =
    typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === 'object';
  return isSchema ? undefined : '`input_schema` must be a JSON Schema of type `object`.';
}
