/** The splitter lives with the other text parts; this name stays for those who know it here. */
export { ClauseSplitter } from './text/clause-splitter.ts';
