import { readFileSync } from 'node:fs';
import { projectPath } from './project-paths.ts';

/** The product's version, from package.json. */
export const PRODUCT_VERSION: string = (
  JSON.parse(readFileSync(projectPath('package.json'), 'utf8')) as { version: string }
).version;
