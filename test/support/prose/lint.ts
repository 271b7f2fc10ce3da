import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TextlintKernel, type TextlintKernelOptions } from '@textlint/kernel';
import { parse as parseMarkdown } from '@textlint/markdown-to-ast';
import type { TextlintPluginProcessorConstructor } from '@textlint/types';
import terminology from 'textlint-rule-terminology';
import { parse } from 'yaml';
import { proseOfComments } from './comments.ts';
import { sentenceStart } from './sentence-start.ts';
import type { Prose } from './source.ts';
import { proseOfSpec } from './specs.ts';

/** A word or a sentence that breaks a rule. */
export interface Finding {
  file: string;
  line: number;
  column: number;
  message: string;
  /** The line, without indentation. */
  excerpt: string;
}

const terms = Object.entries(
  parse(readFileSync(join(import.meta.dirname, 'terms.yaml'), 'utf8')) as Record<string, string>,
);

const proseOfMarkdown = (_file: string, text: string): Prose => ({ text, ast: parseMarkdown(text) });

/** Creates a textlint plugin for files with these extensions. */
function plugin(read: (file: string, source: string) => Prose, ...available: string[]) {
  const Processor = class {
    availableExtensions() {
      return available;
    }
    processor() {
      return {
        preProcess: (text: string, file?: string) => read(file ?? '', text),
        postProcess: (messages: unknown[], file?: string) => ({ messages, filePath: file ?? '' }),
      };
    }
  };
  return { Processor: Processor as unknown as TextlintPluginProcessorConstructor };
}

const options: Omit<TextlintKernelOptions, 'ext' | 'filePath'> = {
  plugins: [
    { pluginId: 'markdown', plugin: plugin(proseOfMarkdown, '.md') },
    { pluginId: 'comments', plugin: plugin(proseOfComments, '.ts', '.tsx', '.js') },
    { pluginId: 'specs', plugin: plugin(proseOfSpec, '.yaml') },
  ],
  rules: [
    { ruleId: 'terminology', rule: terminology, options: { defaultTerms: false, terms, skip: [] } },
    { ruleId: 'sentence-start', rule: sentenceStart },
  ],
};

const kernel = new TextlintKernel();

/** Returns the findings in a file, by line. `file` decides how it is read: Markdown, comments of TypeScript, or specs. */
export async function lintText(file: string, text: string): Promise<Finding[]> {
  const ext = /\.\w+$/.exec(file)?.[0] ?? '';
  const { messages } = await kernel.lintText(text, { ...options, ext, filePath: file });
  const lines = text.split('\n');
  return messages.map(({ loc, message }) => ({
    file,
    line: loc.start.line,
    column: loc.start.column,
    message,
    excerpt: (lines[loc.start.line - 1] ?? '').trim(),
  }));
}
