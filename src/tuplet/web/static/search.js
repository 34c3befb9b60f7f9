// The page "How it searches, step by step".
import { lesson } from "./lesson.js";

lesson("search");
